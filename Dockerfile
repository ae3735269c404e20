# feedsyncd as a container. The first stage builds it, the second stage ships it without the tools and runs it as an
# unprivileged user.
#
#   docker run --read-only --cap-drop ALL --security-opt no-new-privileges \
#     -v /etc/feedsyncd:/etc/feedsyncd:ro -v /srv/ats/export:/srv/ats/export:ro \
#     -v feedsyncd-state:/var/lib/feedsyncd  feedsyncd
#
# The configuration is /etc/feedsyncd/feedsyncd.yaml, with state: { directory: /var/lib/feedsyncd }. The user with uid
# 65532 must be able to read it, its key file and the feeds.

FROM node:24.21.0-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc rolldown.config.ts ./
RUN npm ci
COPY src ./src
COPY config ./config
RUN npm run build
# The optional packages contain a Node for checkouts; the image has its own Node.
RUN npm prune --omit=dev --omit=optional
RUN mkdir state

FROM node:24.21.0-bookworm-slim
WORKDIR /app
ENV NODE_ENV=production
COPY --from=build /app/package.json ./
COPY LICENSE ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY config ./config
COPY --from=build --chown=65532:65532 --chmod=0750 /app/state /var/lib/feedsyncd
VOLUME /var/lib/feedsyncd
USER 65532:65532
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=60s --timeout=10s --start-period=30s --retries=3 \
  CMD ["/app/dist/main.js", "status", "--live"]
# The first line of main.js starts Node with the needed flags: no debugger, less memory.
ENTRYPOINT ["/app/dist/main.js"]
CMD ["run"]

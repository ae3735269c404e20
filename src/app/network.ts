// What speaks to others: the HTTP client, the signed requests for forms, and the uploads.

import type { Config } from '../config/config.ts'
import { createHttpClient } from '../lib/http.ts'
import { VERSION } from '../lib/version.ts'
import { createFormSource } from '../service/form-source.ts'
import { createUploader } from '../upload/uploader.ts'
import type { AppOptions } from './app.ts'
import type { Storage } from './storage.ts'
import { serviceOptions } from './tools.ts'

export type Network = ReturnType<typeof openNetwork>

/** Throws `FeedsyncError` when the key cannot be read. */
export function openNetwork(
  config: Config,
  { log }: Storage,
  { clock, env }: AppOptions,
  owned: AsyncDisposableStack,
) {
  const http = owned.use(createHttpClient({ clock, env, userAgent: `feedsyncd/${VERSION}` }))
  const forms = createFormSource({ http, clock, log, ...serviceOptions(config) })
  const { maxRate } = config.upload
  const uploader = owned.use(createUploader({ http, forms, clock, log, options: { maxRate } }))
  return { http, forms, uploader }
}

// How `npm run build` makes dist/: the program and its libraries in plain JavaScript, in files that a command loads
// when it needs them. `status` takes 95 ms of a processor so, 185 ms from one large file and 180 ms without a bundle.
// better-sqlite3 stays a package of its own, because it brings native code.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { OutputAsset, OutputChunk, Plugin, RolldownOptions } from 'rolldown'

const ROOT = import.meta.dirname

const config = {
  cwd: ROOT,
  platform: 'node',
  // piscina asks for the second one where a thread is to have another priority; none has.
  external: ['better-sqlite3', '@napi-rs/nice'],
  // piscina looks for its worker beside itself.
  transform: { define: { __dirname: 'import.meta.dirname' } },
  input: {
    main: 'src/main.ts',
    // Loaded by name when they are needed: two threads, and the tables of wide characters.
    'check-worker': 'src/feed/check-worker.ts',
    'listing-worker': 'src/inbox/listing-worker.ts',
    // piscina's own side of each thread.
    worker: 'node_modules/piscina/dist/worker.js',
    'text-layout': 'src/terminal/text-layout.ts',
  },
  // Node keeps the text of each file in memory, and LICENSES.txt has the licences.
  output: { dir: 'dist', cleanDir: true, chunkFileNames: '[name].js', comments: false },
  plugins: [licences(), openApi(), partsOfUndici()],
} satisfies RolldownOptions

export default config

/** Puts the description of the service, which the sandbox serves, beside the program. */
function openApi(): Plugin {
  const fileName = 'service.openapi.yaml'
  return {
    name: 'openapi',
    generateBundle() {
      const source = readFileSync(join(ROOT, 'config', fileName), 'utf8')
      this.emitFile({ type: 'asset', fileName, source })
    },
  }
}

/** Bundles the parts of undici that lib/http.ts uses: its main file would load fetch, WebSocket, caches and mocks. */
function partsOfUndici(): Plugin {
  const id = '\0undici'
  const from = (path: string) => JSON.stringify(join(ROOT, 'node_modules/undici/lib', path))
  return {
    name: 'undici',
    resolveId: (source) => (source === 'undici' ? id : null),
    load: (asked) =>
      asked === id
        ? `
          import Agent from ${from('dispatcher/agent.js')}
          import Dispatcher from ${from('dispatcher/dispatcher.js')}
          import EnvHttpProxyAgent from ${from('dispatcher/env-http-proxy-agent.js')}
          import Pool from ${from('dispatcher/pool.js')}
          import api from ${from('api/index.js')}
          import buildConnector from ${from('core/connect.js')}
          Object.assign(Dispatcher.prototype, api)
          export { Agent, buildConnector, Dispatcher, EnvHttpProxyAgent, Pool }`
        : null,
  }
}

/** Puts the licence of each bundled library into LICENSES.txt. */
function licences(): Plugin {
  return {
    name: 'licences',
    generateBundle(_options, bundle) {
      const texts = bundledLibraries(Object.values(bundle)).map((folder) => {
        const { name, version, license } = JSON.parse(
          readFileSync(join(ROOT, folder, 'package.json'), 'utf8'),
        )
        const file = readdirSync(join(ROOT, folder)).find((each) => /^licen[cs]e/i.test(each))
        const text = file === undefined ? '' : readFileSync(join(ROOT, folder, file), 'utf8')
        return `${name} ${version} (${license})\n\n${text.trim()}\n`
      })
      const source = texts.join(`\n${'-'.repeat(80)}\n\n`)
      this.emitFile({ type: 'asset', fileName: 'LICENSES.txt', source })
    },
  }
}

/** The folders of the libraries that a bundle holds, such as `node_modules/pino`, sorted. */
export function bundledLibraries(files: readonly (OutputChunk | OutputAsset)[]): string[] {
  const modules = files.flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []))
  const folders = modules.map(
    (id) => /node_modules\/(?:.*\/node_modules\/)?(@[^/]+\/)?[^/]+/.exec(id)?.[0],
  )
  return [...new Set(folders.filter((folder) => folder !== undefined))].sort()
}

// What speaks to others: the HTTP client, the signed requests for forms, the gate and the uploads.

import type { Config, Settings } from '../config/config.ts'
import { createHttpClient } from '../lib/http.ts'
import { VERSION } from '../lib/version.ts'
import { createFormSource } from '../service/form-source.ts'
import { SendGate } from '../upload/send-gate.ts'
import { StorageUploader } from '../upload/uploader.ts'
import type { AppOptions } from './app.ts'
import { serviceOptions } from './queries.ts'
import type { Storage } from './storage.ts'

export type Network = ReturnType<typeof openNetwork>

/** Throws `FeedsyncError` when the key cannot be read. */
export function openNetwork(
  config: Config,
  settings: Settings<'upload'>,
  { log }: Storage,
  { clock, env }: AppOptions,
  owned: AsyncDisposableStack,
) {
  const http = owned.use(createHttpClient({ clock, env, userAgent: `feedsyncd/${VERSION}` }))
  const forms = createFormSource({ http, clock, log, ...serviceOptions(config) })
  const gate = new SendGate({
    clock,
    serviceOrigin: forms.origin,
    maxRate: config.upload.maxRate,
    concurrency: () => settings.current.upload.concurrency,
  })
  const uploader = owned.use(new StorageUploader({ http, forms, clock, log, gate }))
  return { http, forms, gate, uploader }
}

// This file reads the description of the service in OpenAPI. In a checkout the description is in config/, and the
// bundle has a copy of it beside itself.

import { readFileSync } from 'node:fs'
import { parse } from 'yaml'

const NAME = 'service.openapi.yaml'
const file = import.meta.url.endsWith('.ts')
  ? new URL(`../../config/${NAME}`, import.meta.url)
  : new URL(`./${NAME}`, import.meta.url)

/** openApi returns the description with `url`, the base address of this sandbox, as its server. */
export function openApi(url: string): object {
  return { ...parse(readFileSync(file, 'utf8')), servers: [{ url }] }
}

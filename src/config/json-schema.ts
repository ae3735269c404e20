// The JSON Schema of the configuration file, for editors. Draft 7 is what YAML editors know best. It
// knows single values; what keys must satisfy together only the program checks (rules.ts).

import { z } from 'zod'
import { configSchema } from './schema.ts'

export interface JsonSchema {
  description?: string
  properties?: Record<string, JsonSchema>
  items?: JsonSchema
  default?: unknown
  [keyword: string]: unknown
}

export function configJsonSchema(): JsonSchema {
  const { $schema, ...schema } = z.toJSONSchema(configSchema, { target: 'draft-7', io: 'input' })
  return { $schema, title: 'feedsyncd configuration', ...schema } as JsonSchema
}

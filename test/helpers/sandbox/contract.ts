// Holds every answer of the sandboxes in this process, and every request of the program to them, against the
// description in OpenAPI. A setup file of the e2e and smoke tiers: a test fails if a request or an answer differs.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import { afterEach, expect } from 'vitest'
import { parse } from 'yaml'
import { SERVED, type ServedMessage } from '../../../src/sandbox/service/service.ts'

const FILE = join(import.meta.dirname, '../../../config/service.openapi.yaml')

interface Parameter {
  name: string
  in: 'header' | 'query' | 'path'
  required?: boolean
  schema: { type?: string; $ref?: string }
}

interface Content {
  content?: { 'application/json': { schema: object } }
  $ref?: string
}

interface Operation {
  parameters: (Parameter | { $ref: string })[]
  requestBody?: Content
  responses: Record<string, Content>
}

const document = parse(readFileSync(FILE, 'utf8'))
const ajv = new Ajv2020({ strict: false, allErrors: true })
formats.default(ajv)
ajv.addSchema(document, 'service')

/** resolved follows a reference inside the document. */
function resolved<T>(value: T | { $ref: string }): T {
  const { $ref } = value as { $ref?: string }
  if ($ref === undefined) return value as T
  const steps = $ref.slice('#/'.length).split('/')
  return steps.reduce((part: Record<string, unknown>, step) => part[step] as never, document) as T
}

/** problemsOf returns how a value differs from a schema. */
function problemsOf(what: string, schema: object, value: unknown): string[] {
  const text = JSON.stringify(schema).replaceAll('"#/', '"service#/')
  const validate = ajv.compile(JSON.parse(text))
  if (validate(value)) return []
  return (validate.errors ?? []).map((one) => `${what}${one.instancePath} ${one.message}`)
}

function operationOf(method: string, path: string): Operation | null {
  for (const [template, operations] of Object.entries<Record<string, Operation>>(document.paths)) {
    const pattern = new RegExp(`^${template.replace(/\{\w+\}/g, '[^/]+')}$`)
    const operation = pattern.test(path) ? operations[method.toLowerCase()] : undefined
    if (operation !== undefined) return operation
  }
  return null
}

function jsonOf(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'))
  } catch {
    return undefined
  }
}

/** requestProblems returns how a call differs from the description. */
export function requestProblems({ call }: Pick<ServedMessage, 'call'>): string[] {
  const operation = operationOf(call.method, call.path)
  if (operation === null) return [`${call.method} ${call.path} is not described`]
  const parameters = operation.parameters.map((one) => resolved<Parameter>(one))
  const query = new URLSearchParams(call.query)
  const known = parameters.filter((one) => one.in === 'query').map(({ name }) => name)
  const unknown = [...query.keys()].filter((name) => !known.includes(name))
  const problems = unknown.map((name) => `the query has the unknown parameter ${name}`)
  for (const one of parameters) {
    if (one.in === 'path') continue
    const text = one.in === 'query' ? query.get(one.name) : call.header(one.name)
    if (text === null) {
      if (one.required) problems.push(`${one.name} is missing`)
      continue
    }
    const { type } = resolved<{ type?: string }>(one.schema as { $ref: string })
    const value = type === 'integer' && /^-?\d+$/.test(text) ? Number(text) : text
    problems.push(...problemsOf(one.name, one.schema, value))
  }
  const schema = operation.requestBody?.content?.['application/json'].schema
  if (schema !== undefined) problems.push(...problemsOf('the body', schema, jsonOf(call.body)))
  return problems
}

/** answerProblems returns how an answer differs from the description. */
export function answerProblems({ call, served }: ServedMessage): string[] {
  const { status, body, headers } = served.answer
  const operation = operationOf(call.method, call.path)
  if (operation === null && status < 400) return [`${status} is not described`]
  const responses = operation?.responses ?? {}
  const response = responses[String(status)] ?? { $ref: '#/components/responses/Error' }
  const schema = resolved<Content>(response as { $ref: string }).content?.['application/json']
    .schema
  const problems = /^application\/json\b/.test(headers['content-type'] ?? '')
    ? []
    : ['the answer is not JSON']
  return [...problems, ...problemsOf('the answer', schema ?? {}, jsonOf(body))]
}

interface Held {
  differences: string[]
  calls: number
}

const HELD = Symbol.for('feedsyncd contract of the service')
const shared = globalThis as { [HELD]?: Held }

function hold(): Held {
  const held: Held = { differences: [], calls: 0 }
  SERVED.subscribe((message) => {
    const one = message as ServedMessage
    const { call, served } = one
    if (call.method === 'HEAD') return
    held.calls++
    const isOurs = call.header('user-agent')?.startsWith('feedsyncd/') ?? false
    const isChecked = served.answer.status === 200 || (isOurs && served.answer.status !== 404)
    const problems = [...(isChecked ? requestProblems(one) : []), ...answerProblems(one)]
    held.differences.push(
      ...problems.map((problem) => `${call.method} ${call.path}?${call.query}: ${problem}`),
    )
  })
  return held
}

// The modules of a worker live on from test file to test file, so they share one listener.
shared[HELD] ??= hold()
const held = shared[HELD]

/** callsHeld counts the calls that were held against the description so far. */
export const callsHeld = () => held.calls

afterEach(() => {
  const differences = held.differences.splice(0)
  expect(differences, 'the description of the service in OpenAPI').toEqual([])
})

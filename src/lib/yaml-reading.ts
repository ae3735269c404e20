// Reads a YAML document of the failsafe schema, in which every scalar is text, into typed values, and reports every
// mistake with its position.

import { nearest } from './nearest.ts'
import type { Reader } from './text-fields.ts'
import type { YamlDocument, YamlPath, YamlProblem } from './yaml.ts'

type Values = Record<string, unknown>
/** Take reads the value at a path. It reports a wrong value and returns undefined. */
export type Take<T> = (value: unknown, path: YamlPath) => T | undefined
export type Shape = Record<string, Take<unknown>>

export class YamlReading {
  readonly problems: YamlProblem[] = []
  readonly document: YamlDocument
  readonly #empty: string

  /** `empty`: the message for a document without any key. */
  constructor(document: YamlDocument, empty: string) {
    this.document = document
    this.#empty = empty
  }

  readonly text =
    <T>(read: Reader<T>): Take<T> =>
    (value, path) => {
      const result =
        typeof value === 'string' ? read(value) : { problem: 'expected one value, not a block' }
      if ('value' in result) return result.value
      const shown = typeof value === 'string' && value.length < 60 ? JSON.stringify(value) : null
      this.report(path, 'value', `${result.problem}${shown === null ? '' : ` (got ${shown})`}`)
      return undefined
    }

  /** block reads a block with known keys. It reports unknown keys, wrong values and missing required keys. */
  block(value: unknown, path: YamlPath, shape: Shape, required: readonly string[] = []): Values {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      const problem = path.length === 0 ? this.#empty : 'expected a block of keys'
      this.report(path, 'value', problem)
      return {}
    }
    const values: Values = {}
    for (const [key, content] of Object.entries(value)) {
      const take = Object.hasOwn(shape, key) ? shape[key] : undefined
      const below = [...path, key]
      if (take === undefined) {
        const near = nearest(key, Object.keys(shape))
        const meant = near === null ? '' : `, did you mean ${near}?`
        this.report(below, 'key', `unknown key${meant}`)
        continue
      }
      const taken = take(content, below)
      if (taken !== undefined) values[key] = taken
    }
    for (const key of required) this.#require(value, path, key)
    return values
  }

  list<T>(take: Take<T>): Take<T[]> {
    return (value, path) => {
      if (!Array.isArray(value)) {
        this.report(path, 'value', 'expected a list')
        return undefined
      }
      return value.flatMap((item, n) => {
        const taken = take(item, [...path, n])
        return taken === undefined ? [] : [taken]
      })
    }
  }

  #require(value: object, path: YamlPath, key: string): void {
    if (Object.hasOwn(value, key)) return
    // The misspelt key is already reported, so its right spelling is not reported as missing.
    const misspelt = Object.keys(value).some((known) => nearest(known, [key]) !== null)
    if (!misspelt) this.report(path, 'key', `the key ${key} is missing`)
  }

  report(path: YamlPath, what: 'key' | 'value', problem: string): void {
    this.problems.push(this.document.problemAt(path, what, problem))
  }
}

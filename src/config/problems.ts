// Turns the mistakes in a configuration file into lines for a person. A line never repeats a value that might be a
// secret.

import type { z } from 'zod'
import { EXIT, FeedsyncError } from '../lib/errors.ts'
import type { YamlDocument, YamlProblem } from '../lib/yaml.ts'
import { type BrokenRule, describeProblems } from '../lib/yaml-problems.ts'
import { configJsonSchema } from './schema.ts'

/** ConfigProblems holds all mistakes in the configuration, one line each. */
export class ConfigProblems extends FeedsyncError {
  override name = 'ConfigProblems'
  readonly lines: string[]
  /** Absolute path of the state directory, if the file names it in spite of its mistakes. */
  readonly stateDirectory: string | null

  constructor(lines: string[], stateDirectory: string | null = null) {
    super(`the configuration has ${lines.length} mistakes`, { exitCode: EXIT.config })
    this.lines = lines
    this.stateDirectory = stateDirectory
  }
}

/** formatProblem writes `file:line:column key: problem`. Editors can jump to this place. */
export function formatProblem(file: string, { line, column, key, reason }: YamlProblem): string {
  return `${file}:${line}:${column} ${key === '' ? '' : `${key}: `}${reason}`
}

/** configProblems returns the mistakes that the schema and the rules of several keys found. */
export function configProblems(
  document: YamlDocument,
  issues: readonly z.core.$ZodIssue[],
  findings: readonly BrokenRule[],
): YamlProblem[] {
  return describeProblems(document, {
    issues,
    findings,
    schema: configJsonSchema(),
    mayShow: (key) => !SENSITIVE.test(key),
    forbidden: (name) => (INLINE_SECRET.test(name) ? NO_SECRETS : null),
    alternatives: [
      ['account', 'partner'],
      ['exec', 'webhook'],
    ],
  })
}

const SENSITIVE = /key|secret|token|passw|credential|url|webhook|exec/i
const INLINE_SECRET =
  /^(api|private|secret|signing)?_?-?(key|secret|token|password|passwd|pem|credentials?)$/i
const NO_SECRETS =
  'secrets do not belong in this file: write the secret to its own file, and name that file in service.auth.keyFile'

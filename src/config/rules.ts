// Rules that several keys must satisfy together. They read the file as it is written, so that these mistakes are
// reported together with all others. They ignore values that are already wrong on their own.

import { realpathSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { isWithin } from '../lib/files.ts'
import { capturingMatcher } from '../lib/glob.ts'
import { type BrokenRule, valueAt } from '../lib/yaml-problems.ts'

/** Links says whether the links in paths are followed. Following a link reads the disk of a folder, which can hang. */
export type Links = 'followed' | 'as-written'

/** brokenRules returns the broken rules of a file, with the key of each; `base` is the folder of the file. */
export function brokenRules(raw: unknown, base: string, links: Links): BrokenRule[] {
  if (typeof raw !== 'object' || Array.isArray(raw)) return []
  return [...identity(raw), ...folders(raw, base, links), ...feeds(raw), ...alerts(raw)]
}

function identity(raw: unknown): BrokenRule[] {
  const has = (key: string) => valueAt(raw, ['service', key]) != null
  const at = (key: string, reason: string) => [{ path: ['service', key], reason }]
  if (!has('account'))
    return has('partner') ? [] : at('account', 'missing: name an account, or a partner')
  if (has('partner')) return at('partner', 'name either an account or a partner')
  return has('partnerAccount') ? at('partnerAccount', 'belongs to a partner, not an account') : []
}

/** folders keeps our folders outside the inbox: a file moved within the inbox would be found again, as a new feed. */
function folders(raw: unknown, base: string, links: Links): BrokenRule[] {
  const real = links === 'followed' ? realPath : (path: string) => path
  const written = (section: string, key: string, fallback: string) => {
    const value = valueAt(raw, [section, key]) ?? fallback
    return typeof value === 'string' ? real(resolve(base, value)) : null
  }
  const inbox = written('inbox', 'directory', './inbox')
  const state = written('state', 'directory', './state') ?? base
  const outside = (section: string, key: string, fallback: string) => {
    const folder = written(section, key, fallback)
    return inbox !== null && folder !== null && isWithin(folder, inbox)
      ? [{ path: [section, key], reason: 'must lie outside inbox.directory' }]
      : []
  }
  const archives = valueAt(raw, ['inbox', 'afterUpload']) === 'archive'
  const quarantines = valueAt(raw, ['inbox', 'afterReject']) === 'quarantine'
  return [
    ...outside('state', 'directory', './state'),
    ...(archives ? outside('inbox', 'archiveDirectory', join(state, 'archive')) : []),
    ...(quarantines ? outside('inbox', 'quarantineDirectory', join(state, 'quarantine')) : []),
  ]
}

/** realPath follows the links of the existing part of a path. */
function realPath(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path === dirname(path) ? path : join(realPath(dirname(path)), basename(path))
  }
}

function feeds(raw: unknown): BrokenRule[] {
  return items(raw, 'feeds').flatMap((rule, index) => {
    const match = valueAt(rule, ['match'])
    if (typeof match !== 'string') return []
    const reason = matchProblem(match)
    if (reason !== null) return [{ path: ['feeds', index, 'match'], reason }]
    const captured = captures(match)
    return ['name', 'partnerAccount'].flatMap((key) => {
      const template = valueAt(rule, [key])
      const unknown =
        typeof template === 'string' ? captures(template).filter((n) => !captured.includes(n)) : []
      return unknown.length === 0
        ? []
        : [{ path: ['feeds', index, key], reason: `match captures no {${unknown[0]}}` }]
    })
  })
}

function matchProblem(match: string): string | null {
  if (/^\.{0,2}\/|(^|\/)\.\.(\/|$)/.test(match)) {
    return 'must be relative to inbox.directory, such as "acme/*.xml"'
  }
  try {
    capturingMatcher(match)
    return null
  } catch {
    return 'is not a pattern that can be read'
  }
}

/** captures returns the numbers that the text names: `1` for `{1}`. */
const captures = (text: string) => [...text.matchAll(/\{(\d+)\}/g)].map((found) => found[1] ?? '')

function alerts(raw: unknown): BrokenRule[] {
  return items(raw, 'alerts').flatMap((alert, index) => {
    const has = (key: string) => valueAt(alert, [key]) != null
    const at = (key: string, reason: string) => [{ path: ['alerts', index, key], reason }]
    if (has('webhook')) return has('exec') ? at('webhook', 'name either exec or a webhook') : []
    return [
      ...(has('exec') ? [] : at('exec', 'missing: name exec, or a webhook')),
      ...(has('secretFile') ? at('secretFile', 'belongs to a webhook') : []),
    ]
  })
}

function items(raw: unknown, key: string): { [key: string]: unknown }[] {
  const value = valueAt(raw, [key])
  return Array.isArray(value) ? value : []
}

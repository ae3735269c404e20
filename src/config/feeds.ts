// Finds the feed of a path by the rules of the configuration. Pure: it reads no files and ignores their content.

import { composed, feedWithoutRule, plainName } from '../domain/feed-name.ts'
import type { Mapping } from '../domain/mapping.ts'
import { withoutStamp } from '../domain/stamped-name.ts'
import {
  type CapturingMatcher,
  capturingMatcher,
  filledMatcher,
  fillTemplate,
} from '../lib/glob.ts'
import type { FeedConfig } from './config.ts'

export interface FeedRule {
  /** The feed's name: the name in the rule, else the path with `{date}` for a date in the file's name. */
  feed: string
  /** Partner account of the upload; null means the configured identity. */
  account: string | null
  mapping: Mapping
  /** Whether the dates in the names of files order the versions of the feed. */
  dated: boolean
  /** The longest time between two versions; null means never overdue. */
  expectEveryMs: number | null
}

/** RuleFor returns the feed of a path, as `feedFor` does. `named` is the feed that a person named for the file. */
export type RuleFor = (path: string, named?: string | null) => FeedRule

/** The compiled patterns of rules, kept because a scan asks for every file. */
const matchers = new WeakMap<FeedConfig, CapturingMatcher>()

/**
 * feedFor returns the feed of a path and the settings for it. `given` is the path relative to the folder, with `/`. The
 * first rule that matches it, with or without `.gz`, decides. `givenName` is the feed that a person named for the file:
 * the name of a rule, or a name that is read like a path. The settings come from the rule that gives this name, or else
 * from the rule of the path. All names are compared in Unicode form NFC.
 */
export function feedFor(
  given: string,
  rules: readonly FeedConfig[],
  givenName: string | null = null,
): FeedRule {
  const path = composed(given)
  const named = givenName === null ? null : composed(givenName)
  const ofPath = ruleOfPath(rules, path)
  if (named === null || named === ofPath?.feed) return ofPath ?? withoutRule(path)
  const ofName = ruleOfName(rules, named) ?? ruleOfPath(unnamed(rules), named)
  const feed = ofName?.feed ?? feedWithoutRule(named)
  return { ...(ofName ?? ofPath ?? withoutRule(path)), feed }
}

/** ruleOfPath returns the feed of a path by the first rule that matches the path; null if no rule matches. */
function ruleOfPath(rules: readonly FeedConfig[], path: string): FeedRule | null {
  const [own, plain] = [withoutStamp(path), plainName(path)]
  return firstOf(rules, path, (rule) => matcherOf(rule)(own) ?? matcherOf(rule)(plain))
}

/**
 * ruleOfName returns the feed `named` with the settings of the first rule that has this name, or else of the first rule
 * whose name with captures can become this name; null if no rule can give this name.
 */
function ruleOfName(rules: readonly FeedConfig[], named: string): FeedRule | null {
  const found =
    firstOf(rules, named, ({ name }) => (name !== null && composed(name) === named ? {} : null)) ??
    firstOf(rules, named, ({ name }) =>
      name === null ? null : filledMatcher(composed(name))(named),
    )
  return found && { ...found, feed: named }
}

/** unnamed returns the rules that name their feeds by the paths of the files. */
function unnamed(rules: readonly FeedConfig[]): FeedConfig[] {
  return rules.filter(({ name }) => name === null)
}

/** ownName returns the feed name of a path whose rule names no feed. */
function ownName(path: string, { dated }: FeedConfig): string {
  return dated ? feedWithoutRule(path) : plainName(path)
}

/** firstOf returns the feed of a path by the first rule for which `match` finds captures; null if it finds none. */
function firstOf(
  rules: readonly FeedConfig[],
  path: string,
  match: (rule: FeedConfig) => ReturnType<CapturingMatcher>,
): FeedRule | null {
  for (const rule of rules) {
    const captured = match(rule)
    if (captured === null) continue
    const filled = (template: string | null) =>
      template === null ? null : fillTemplate(template, captured)
    return {
      feed: composed(filled(rule.name) ?? ownName(path, rule)),
      account: filled(rule.partnerAccount),
      dated: rule.dated,
      mapping: { encoding: rule.encoding, records: rule.records, fields: rule.fields },
      expectEveryMs: rule.expectEveryMs,
    }
  }
  return null
}

function withoutRule(path: string): FeedRule {
  const feed = feedWithoutRule(path)
  const mapping = { encoding: null, records: null, fields: {} }
  return { feed, account: null, mapping, dated: true, expectEveryMs: null }
}

function matcherOf(rule: FeedConfig): CapturingMatcher {
  const known = matchers.get(rule)
  if (known !== undefined) return known
  const made = capturingMatcher(composed(rule.match))
  matchers.set(rule, made)
  return made
}

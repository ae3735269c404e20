// Writes changes and targetings as text for people. Pure.

import { isoTime } from '../lib/clock.ts'
import type { FieldChange } from './field-changes.ts'
import type { Spend } from './fields.ts'
import type { Targeting } from './service/port.ts'
import { type CanonicalTargeting, canonical, targetingSpend, targetingTexts } from './targeting.ts'

const SPENDS = { up: 'can spend more', down: 'spends less', neutral: 'spends the same' } as const

/** changeLines returns lines such as `budget: 100.00 -> 90.00  [spends less]`. */
export function changeLines(changes: readonly FieldChange[]): string[] {
  return linesOf(changes).map(({ name, from, to, spend, month = '', there = '' }) => {
    return `${name}: ${from ?? '(not known)'} -> ${to}${month}  [${SPENDS[spend]}]${there}`
  })
}

/** valueLines returns only the new values, for a new campaign: `budget: 90.00`. */
export function valueLines(changes: readonly FieldChange[]): string[] {
  return linesOf(changes).map(({ name, to, month = '' }) => `${name}: ${to}${month}`)
}

function linesOf(changes: readonly FieldChange[]): ChangeLine[] {
  const text = (value: FieldChange['to']) => (value === null ? 'none' : String(value))
  return changes.flatMap((change): ChangeLine[] => {
    const { field, from, to, spend, isMonthly = false } = change
    if (field === 'targeting')
      return targetingLines(from as Targeting | null | undefined, to as Targeting)
    return [
      {
        ...{ name: field, from: from === undefined ? null : text(from), to: text(to), spend },
        ...{ month: isMonthly ? ' a month' : '', there: thereText(change) },
      },
    ]
  })
}

interface ChangeLine {
  name: string
  from: string | null
  to: string
  spend: Spend
  month?: string
  there?: string
}

/**
 * thereText says that somebody changed a value on the service, and when feedsyncd sent its own; empty if nobody did.
 */
function thereText({ from: now, sent, sentAt = null }: FieldChange) {
  if (sent === undefined) return ''
  const on = sentAt === null ? '' : ` on ${isoTime(sentAt)?.slice(0, 10)}`
  return `; you sent ${sent ?? 'none'}${on}, and somebody changed it to ${now ?? 'none'}`
}

/** targetingLines returns the criteria that change, and how each one alone changes the spending. */
function targetingLines(from: Targeting | null | undefined, to: Targeting): ChangeLine[] {
  const [before, after] = [from == null ? null : canonical(from), canonical(to)]
  const spendOf = (name: keyof CanonicalTargeting): Spend =>
    before === null ? 'up' : targetingSpend(before, { ...before, [name]: after[name] })
  const lines = targetingTexts(before, after).map(({ name, ...texts }) => {
    return { name: `targeting.${name}`, ...texts, spend: spendOf(name) }
  })
  const every = { name: 'targeting', from: null, to: 'every posting', spend: 'up' as const }
  return lines.length === 0 ? [every] : lines
}

/** targetingText returns a targeting as one line: `externalCampaignId: NUR-Q1; stateProvCodes: MA, ON`. */
export function targetingText(targeting: CanonicalTargeting): string {
  const texts = targetingTexts(null, targeting).map(({ name, to }) => `${name}: ${to}`)
  return texts.join('; ') || 'every posting'
}

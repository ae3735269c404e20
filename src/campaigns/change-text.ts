// Writes changes and targetings as text for people. Pure.

import { isoTime } from '../lib/clock.ts'
import type { Change } from './field-changes.ts'
import type { Spend } from './fields.ts'
import type { Targeting } from './service/port.ts'
import { type CanonicalTargeting, canonical, targetingSpend, targetingTexts } from './targeting.ts'

const SPENDS = { up: 'can spend more', down: 'spends less', neutral: 'spends the same' } as const

/** changeLines returns lines such as `budget: 100.00 -> 90.00  [spends less]`; for a create only values. */
export function changeLines(changes: readonly Change[], isNew = false): string[] {
  const text = (value: Change['to']) => (value === null ? 'none' : String(value))
  const lines = changes.flatMap(({ field, from, to, spend, isMonthly = false, ...other }) =>
    field === 'targeting'
      ? targetingLines(from as Targeting | null | undefined, to as Targeting)
      : {
          ...{ name: field, from: from === undefined ? null : text(from), to: text(to), spend },
          ...{ month: isMonthly ? ' a month' : '', there: thereText(other, from) },
        },
  )
  return lines.map(({ name, from, to, spend, month = '', there = '' }: ChangeLine) => {
    const change = `${from ?? '(not known)'} -> ${to}${month}  [${SPENDS[spend]}]`
    return `${name}: ${isNew ? `${to}${month}` : change}${there}`
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

/** thereText says that somebody changed a value on the service, and when feedsyncd sent its own. */
function thereText({ sent, sentAt = null }: Pick<Change, 'sent' | 'sentAt'>, now: Change['from']) {
  if (sent === undefined) return ''
  const on = sentAt === null ? '' : ` on ${isoTime(sentAt)?.slice(0, 10)}`
  return `; you sent ${sent ?? 'none'}${on}, and somebody made it ${now ?? 'none'}`
}

/** targetingLines returns the criteria that change, and how each one alone changes the spending. */
function targetingLines(from: Targeting | null | undefined, to: Targeting) {
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

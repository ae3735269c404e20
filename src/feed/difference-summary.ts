// Sums up a difference for people: the values with the most removed and added postings, and the first postings.

import {
  type Difference,
  type DifferenceSummary,
  type GroupCount,
  type GroupSummary,
  MOST_SUMMED,
  type NamedPostings,
} from '../domain/difference.ts'
import { short } from '../xml/fault.ts'

/** summaryOf keeps the first `MOST_SUMMED` values of each group and the first `MOST_SUMMED` postings of each kind. */
export function summaryOf(
  { by, postings, totals }: Difference,
  { added, changed, removed }: NamedPostings,
): DifferenceSummary {
  return {
    totals,
    postings,
    by: {
      externalCampaignId: groupSummary(by.externalCampaignId),
      state: groupSummary(by.state),
      city: groupSummary(by.city),
    },
    named: {
      added: added.slice(0, MOST_SUMMED).map(shortened),
      removed: removed.slice(0, MOST_SUMMED).map(shortened),
      changed: changed.slice(0, MOST_SUMMED).map((posting) => ({
        ...shortened(posting),
        fields: posting.fields.slice(0, MOST_FIELDS).map((name) => short(name, LONGEST)),
      })),
    },
  }
}

/** LONGEST limits each text of a summary, in characters: a feed can have values of a thousand characters. */
const LONGEST = 100
/** MOST_FIELDS limits the names of changed fields: a posting can have a thousand elements. */
const MOST_FIELDS = 50

/** shortened cuts each text of a posting to `LONGEST` characters. */
function shortened<T extends object>(posting: T): T {
  const fields = Object.entries(posting)
  return Object.fromEntries(
    fields.map(([name, value]) => [
      name,
      typeof value === 'string' ? short(value, LONGEST) : value,
    ]),
  ) as T
}

function groupSummary(counts: ReadonlyMap<string, GroupCount>): GroupSummary {
  const values = [...counts].map(([value, { left, ...count }]) => {
    return { value: short(value, LONGEST), ...count, isGone: count.removed > 0 && left === 0 }
  })
  values.sort((a, b) => b.removed - a.removed || b.added - a.added || (a.value < b.value ? -1 : 1))
  return {
    values: values.slice(0, MOST_SUMMED),
    count: values.length,
    gone: values.filter(({ isGone }) => isGone).length,
  }
}

// Reads the postings of an uploaded feed, as the service does to know what a campaign sponsors. Takes the common
// names of fields; a feed of another shape has no postings here.

import { readFileSync } from 'node:fs'
import { XMLParser } from 'fast-xml-parser'
import type { SandboxPosting } from './campaign-targeting.ts'

const RECORD = /^(job|item|posting|position|vacancy)$/i
const FIELDS: Record<keyof SandboxPosting, RegExp> = {
  externalCampaignId: /^(external_?)?campaign_?(id)?$/i,
  requisitionId: /^(requisition|req)_?(id|number)?$/i,
  title: /^(job_?)?title$/i,
  description: /^(job_?)?description$/i,
  city: /^city$/i,
  state: /^state$/i,
  postalCode: /^(zip|postal)_?(code)?$/i,
}

/** Empty for what cannot be read: a feed that is broken sponsors nothing. */
export function readPostings(path: string): SandboxPosting[] {
  try {
    const parser = new XMLParser({ parseTagValue: false, htmlEntities: true })
    const feed = parser.parse(readFileSync(path, 'utf8'), true)
    const isRecord = (name: string) => RECORD.test(name)
    return [...elementsIn(feed, isRecord)].flatMap(([name, record]) =>
      isRecord(name) ? [toPosting(record)] : [],
    )
  } catch {
    return []
  }
}

function toPosting(record: unknown): SandboxPosting {
  const leaves = [...elementsIn(record)].filter(([, content]) => typeof content !== 'object')
  const fields = Object.entries(FIELDS).map(([field, pattern]) => [
    field,
    leaves.findLast(([name]) => pattern.test(name))?.[1] ?? '',
  ])
  return Object.fromEntries(fields)
}

/** All elements below, in order; nothing below those that are `whole`. */
function* elementsIn(
  content: unknown,
  isWhole = (_name: string) => false,
): Generator<[name: string, content: unknown]> {
  if (typeof content !== 'object' || content === null) return
  for (const [name, child] of Object.entries(content)) {
    // Children of the same name come from the parser as one list.
    for (const element of [child].flat()) {
      yield [name, element]
      if (!isWhole(name)) yield* elementsIn(element, isWhole)
    }
  }
}

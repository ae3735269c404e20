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

type Element = [name: string, content: unknown]

/** Empty for what cannot be read: a feed that is broken sponsors nothing. */
export function readPostings(path: string): SandboxPosting[] {
  try {
    const parser = new XMLParser({ parseTagValue: false, htmlEntities: true })
    return postingsIn(parser.parse(readFileSync(path, 'utf8'), true))
  } catch {
    return []
  }
}

function postingsIn(content: unknown): SandboxPosting[] {
  return childrenOf(content).flatMap(([name, child]) =>
    RECORD.test(name) ? [toPosting(child)] : postingsIn(child),
  )
}

function toPosting(record: unknown): SandboxPosting {
  const leaves = leavesOf(record)
  const fields = Object.entries(FIELDS).map(([field, pattern]) => [
    field,
    leaves.findLast(([name]) => pattern.test(name))?.[1] ?? '',
  ])
  return Object.fromEntries(fields)
}

function leavesOf(content: unknown): Element[] {
  return childrenOf(content).flatMap(([name, child]): Element[] =>
    typeof child === 'object' ? leavesOf(child) : [[name, child]],
  )
}

/** Children of the same name come from the parser as one list. */
function childrenOf(content: unknown): Element[] {
  if (typeof content !== 'object' || content === null) return []
  return Object.entries(content).flatMap(([name, child]): Element[] =>
    Array.isArray(child) ? child.map((one): Element => [name, one]) : [[name, child]],
  )
}

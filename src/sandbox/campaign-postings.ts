// Reads the postings of an uploaded feed, as the service does to know what a campaign sponsors. Takes the
// common names of fields; another feed shape simply has no postings here.

import { readFileSync } from 'node:fs'
import { SaxesParser } from 'saxes'
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
  const postings: SandboxPosting[] = []
  let posting: SandboxPosting | null = null
  let text = ''
  const parser = new SaxesParser()
  parser.on('opentag', ({ name }) => {
    text = ''
    if (posting === null && RECORD.test(name)) posting = emptyPosting()
  })
  parser.on('text', (piece) => {
    text += piece
  })
  parser.on('cdata', (piece) => {
    text += piece
  })
  parser.on('closetag', ({ name }) => {
    if (posting === null) return
    if (RECORD.test(name)) {
      postings.push(posting)
      posting = null
      return
    }
    for (const [field, pattern] of Object.entries(FIELDS))
      if (pattern.test(name)) posting[field as keyof SandboxPosting] = text.trim()
    text = ''
  })
  parser.on('error', (error) => {
    throw error
  })
  try {
    parser.write(readFileSync(path, 'utf8')).close()
  } catch {
    return []
  }
  return postings
}

function emptyPosting(): SandboxPosting {
  const values = Object.keys(FIELDS).map((field) => [field, ''])
  return Object.fromEntries(values) as unknown as SandboxPosting
}

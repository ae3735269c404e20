// Owns the SQL of `list`: a closed number of texts, so that each is prepared once. Pure.

import type { ListFilter } from './records.ts'
import { OPEN } from './states.ts'
import { VERSION_FIELDS } from './version-row.ts'

const NO_LIMIT = -1

/** Newest first. Without `all` it walks the feeds and their newest versions, never the whole history. */
export function listQuery(filter: ListFilter): { sql: string; parameters: (string | number)[] } {
  const conditions: string[] = []
  const parameters: (string | number)[] = []
  if (filter.feed !== undefined) {
    conditions.push(filter.all ? 'v.feed = ?' : 'f.name = ?')
    parameters.push(filter.feed)
  }
  if (filter.states !== undefined) {
    conditions.push(`v.state IN (${filter.states.map(() => '?').join(', ')})`)
    parameters.push(...filter.states)
  }
  if (filter.since !== undefined) {
    conditions.push('v.detected_at >= ?')
    parameters.push(filter.since)
  }
  if (filter.before !== undefined) {
    conditions.push('v.id < ?')
    parameters.push(filter.before)
  }
  const where = conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`
  const order = filter.all ? 'v.id' : 'f.newest'
  parameters.push(filter.limit ?? NO_LIMIT)
  return {
    sql: `SELECT ${VERSION_FIELDS} FROM ${source(filter)}${where} ORDER BY ${order} DESC LIMIT ?`,
    parameters,
  }
}

function source({ all, feed, states, since }: ListFilter): string {
  // CROSS keeps the order of the join: left to the planner, a state is looked up in the whole history.
  if (!all) return 'feeds f CROSS JOIN versions v ON v.id = f.newest'
  // The planner would walk the history, or the feed's, backwards to its end, since that saves sorting.
  if (feed !== undefined) {
    return states === undefined ? 'versions v' : 'versions v INDEXED BY versions_feed_state'
  }
  // Open versions are few, so their state finds them faster than their date.
  const few = states?.every((state) => OPEN.includes(state))
  return since === undefined || few ? 'versions v' : 'versions v INDEXED BY versions_detected'
}

// This file makes the answer to `GET /_sandbox/requests`.

import { refuse } from '../http/answer.ts'
import { type Journal, MOST_DETAILS } from '../journal.ts'

const FILTERS = ['route', 'status', 'since', 'limit']
/** USUAL_LIMIT is the number of requests in an answer if the query has no limit. */
const USUAL_LIMIT = 100

/** listedRequests returns the requests that the query asks for, newest first. It refuses a wrong query with 400. */
export function listedRequests(journal: Journal, query: URLSearchParams): object[] {
  const wrong = (message: string) => refuse(400, 'bad-request', message)
  const unknown = [...query.keys()].find((name) => !FILTERS.includes(name))
  if (unknown !== undefined) wrong(`${unknown}: expected one of ${FILTERS.join(', ')}`)
  const route = query.get('route')
  const status = query.get('status')
  if (status !== null && !/^[1-5](\d\d|xx)$/.test(status)) {
    wrong(`status: expected a status such as 401 or 4xx, got "${status}"`)
  }
  const since = query.get('since')
  const from = since === null ? Number.NEGATIVE_INFINITY : Date.parse(since)
  if (Number.isNaN(from)) {
    wrong(`since: expected a date-time such as 2027-01-04T10:00:00Z, got "${since}"`)
  }
  const limit = Number(query.get('limit') ?? USUAL_LIMIT)
  if (!Number.isInteger(limit) || limit < 1 || limit > MOST_DETAILS) {
    wrong(`limit: expected a whole number from 1 to ${MOST_DETAILS}, got "${query.get('limit')}"`)
  }
  const hasStatus = (given: number | null) =>
    status === null || String(given).startsWith(status.replace('xx', ''))
  return journal
    .list()
    .reverse()
    .filter(
      (request) =>
        (route === null || request.route === route) &&
        hasStatus(request.status) &&
        request.startedAt >= from,
    )
    .slice(0, limit)
    .map(({ startedAt, endedAt, ...request }) => ({
      ...request,
      startedAt: new Date(startedAt).toISOString(),
      endedAt: endedAt === null ? null : new Date(endedAt).toISOString(),
      details: journal.details(request.n),
    }))
}

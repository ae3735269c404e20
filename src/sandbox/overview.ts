// This file renders the page at `/` of the service's listener, which shows campaigns, objects and the last requests.

import type { CampaignBook } from './campaign-book.ts'
import type { Journal } from './journal.ts'
import type { ObjectStore } from './object-store.ts'

const MOST_ROWS = 100
const STATUS = ['', 'running', 'archived', 'paused']

interface OverviewParts {
  campaigns: CampaignBook
  store: ObjectStore
  journal: Journal
}

/** overview returns the page as HTML, with the newest rows first. */
export function overview({ campaigns, store, journal }: OverviewParts): string {
  const time = (ms: number) => new Date(ms).toISOString().slice(0, 19).replace('T', ' ')
  const tables = [
    table(
      'Campaigns',
      ['id', 'account', 'name', 'status', 'budget', 'spend', 'leads', 'targeting'],
      campaigns.all,
      (one) => [
        ...[one.id, one.accountId, one.name, STATUS[one.status] ?? one.status, one.budget],
        ...[one.spend, one.leads, one.targeting === null ? 'all' : brief(one.targeting)],
      ],
    ),
    table(
      'Objects',
      ['received', 'account', 'key', 'bytes', 'SHA-256'],
      store.list(),
      ({ receivedAt, account, key, bytes, sha256 }) => [
        ...[time(receivedAt), account, key, bytes, sha256.slice(0, 12)],
      ],
    ),
    table(
      'Requests',
      ['n', 'at', 'side', 'method', 'route', 'account', 'status', 'code', 'faults'],
      journal.list(),
      ({ n, startedAt, side, method, route, account, status, code, faults }) => [
        ...[n, time(startedAt), side, method, route, account, status, code, faults.join(' ')],
      ],
    ),
  ]
  return `<!doctype html>
<html lang="en"><meta charset="utf-8"><meta http-equiv="refresh" content="5">
<title>feedsyncd sandbox</title>
<style>
body { font: 14px sans-serif; margin: 2em } table { border-collapse: collapse }
td, th { padding: .2em .8em .2em 0; text-align: left; border-bottom: 1px solid #ccc }
td { overflow-wrap: anywhere }
</style>
<h1>feedsyncd sandbox</h1>
${tables.join('\n')}
</html>
`
}

type Cell = string | number | null

function table<T>(
  title: string,
  columns: readonly string[],
  all: readonly T[],
  cellsOf: (row: T) => Cell[],
): string {
  const cell = (tag: string, value: Cell) => `<${tag}>${escaped(String(value ?? ''))}</${tag}>`
  const rows = [columns.map((name) => cell('th', name))]
  for (const row of all.slice(-MOST_ROWS).reverse()) {
    rows.push(cellsOf(row).map((value) => cell('td', value)))
  }
  const more = all.length > MOST_ROWS ? `, the newest ${MOST_ROWS}` : ''
  const body = rows.map((cells) => `<tr>${cells.join('')}</tr>`).join('\n')
  return `<h2>${title} (${all.length}${more})</h2>\n<table>\n${body}\n</table>`
}

const brief = (targeting: object) =>
  JSON.stringify(targeting, (_, value) =>
    value === null || (Array.isArray(value) && value.length === 0) ? undefined : value,
  )

const escaped = (text: string) => text.replace(/[&<>"]/g, (mark) => `&#${mark.charCodeAt(0)};`)

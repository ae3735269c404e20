// This file renders the page at `/` of the service's listener, which shows clock, faults, campaigns, objects and the
// last requests.

import { writeDuration } from '../../lib/units.ts'
import type { FaultBook } from '../faults/faults.ts'
import type { Journal } from '../journal.ts'
import type { SandboxClock } from '../sandbox-clock.ts'
import type { CampaignBook } from '../service/book.ts'
import type { ObjectStore } from '../storage/object-store.ts'
import { STYLE } from './overview-style.ts'

const MOST_ROWS = 100
const STATUS_NAMES = ['', 'running', 'archived', 'paused']

interface OverviewParts {
  campaigns: CampaignBook
  store: ObjectStore
  journal: Journal
  faults: FaultBook
  clock: SandboxClock
}

/** overview returns the page as HTML, with the newest rows first. */
export function overview(parts: OverviewParts): string {
  const { campaigns, store, journal, faults, clock } = parts
  const tables = [
    table('Faults', ['id', 'side', 'kind', 'rule', 'played', 'held'], faultRows(faults)),
    table(
      'Campaigns',
      ['id', 'account', 'name', 'status', 'budget', 'spend', 'leads', 'targeting'],
      campaigns.all.map((one) => [
        ...[one.id, one.accountId, one.name, STATUS_NAMES[one.status] ?? one.status, one.budget],
        ...[one.spend, one.leads, one.targeting === null ? 'all' : brief(one.targeting)],
      ]),
    ),
    table(
      'Objects',
      ['received', 'account', 'key', 'bytes', 'SHA-256'],
      store
        .list()
        .map(({ receivedAt, account, key, bytes, sha256 }) => [
          ...[time(receivedAt), account, key, bytes, sha256.slice(0, 12)],
        ]),
    ),
    table(
      'Requests',
      ['n', 'at', 'side', 'method', 'route', 'account', 'status', 'code', 'faults'],
      journal
        .list()
        .map(({ n, startedAt, side, method, route, account, status, code, faults: met }) => [
          ...[n, time(startedAt), side, method, route, account, status, code, met.join(' ')],
        ]),
    ),
  ]
  const ahead = clock.aheadMs
  const clockText = `${time(clock.now())} UTC`
  const aheadText =
    ahead === 0
      ? 'the time of its host'
      : `set ${writeDuration(Math.abs(ahead))} ${ahead < 0 ? 'back' : 'ahead'}`
  const active = faults.list().length
  const problem = journal.problem === null ? '' : `<p class="bad">${escaped(journal.problem)}</p>`
  return `<!doctype html>
<html lang="en"><meta charset="utf-8"><meta http-equiv="refresh" content="5">
<meta name="viewport" content="width=device-width">
<title>feedsyncd sandbox</title>
<link rel="icon" href="data:,">
<style>${STYLE}</style>
<h1>feedsyncd sandbox</h1>
${problem}
<dl>
<div><dt>Clock</dt><dd>${clockText}</dd><dd class="${ahead === 0 ? 'dim' : 'warn'}">${aheadText}</dd></div>
<div><dt>Faults</dt><dd class="${active === 0 ? 'good' : 'warn'}">${active === 0 ? 'none' : `${active} active`}</dd></div>
</dl>
${tables.join('\n')}
</html>
`
}

function faultRows(faults: FaultBook): TableCell[][] {
  return faults.list().map((fault) => {
    const { at, kind, ...rule } = fault.rule
    const { played, held } = fault.toJSON()
    return [fault.id, at, kind, brief(rule), played, held]
  })
}

type TableCell = string | number | null

/** time writes wall-clock ms as UTC, such as `2027-01-04 10:15:30`. */
const time = (ms: number) => new Date(ms).toISOString().slice(0, 19).replace('T', ' ')

/** table renders the newest rows, newest first. `all` has all rows, oldest first. */
function table(title: string, columns: readonly string[], all: readonly TableCell[][]): string {
  const rows = all
    .slice(-MOST_ROWS)
    .reverse()
    .map((cells) => `<tr>${cells.map((value) => cell('td', value)).join('')}</tr>`)
  const head = `<tr>${columns.map((name) => cell('th', name)).join('')}</tr>`
  const more = all.length > MOST_ROWS ? `, the newest ${MOST_ROWS}` : ''
  const heading = `<h2>${title} <span class="dim">${all.length}${more}</span></h2>`
  if (all.length === 0) return `${heading}\n<p class="dim">none</p>`
  return `${heading}\n<div class="scroll"><table>\n${head}\n${rows.join('\n')}\n</table></div>`
}

const cell = (tag: string, value: TableCell) => `<${tag}>${escaped(String(value ?? ''))}</${tag}>`

/** brief writes an object as JSON, without members that are null or an empty list. */
const brief = (value: object) =>
  JSON.stringify(value, (_, member) =>
    member === null || (Array.isArray(member) && member.length === 0) ? undefined : member,
  )

const escaped = (text: string) => text.replace(/[&<>"]/g, (mark) => `&#${mark.charCodeAt(0)};`)

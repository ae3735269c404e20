// The style of the pages and the script that refreshes them. The policy allows only these two, by their hash, so the
// browser runs and loads nothing else.

import { hash } from 'node:crypto'

export const STYLE = `
:root {
  color-scheme: light dark;
  --ground: #f7f7f5; --card: #fff; --ink: #1c2024; --dim: #5c646d; --line: #e2e3e0;
  --good: #16703f; --warn: #a14d00; --mark: #f0a000; --bad: #b3261e; --wash: #1c20240a; --focus: #1f5fbf;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #121416; --card: #1a1d20; --ink: #e7e8ea; --dim: #9da5ae; --line: #2c3136;
    --good: #6ecb92; --warn: #f0b35a; --mark: #f0b35a; --bad: #ff8a7d; --wash: #ffffff0d; --focus: #8ab8ff;
  }
}
* { box-sizing: border-box }
html { -webkit-text-size-adjust: 100% }
body {
  margin: 0 auto; padding: 0 1.5rem 3rem; max-width: 66rem; background: var(--ground); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif;
  font-variant-numeric: tabular-nums;
}
a { color: inherit; text-decoration-color: var(--dim); text-decoration-thickness: 1px; text-underline-offset: .2em }
a:hover { text-decoration-color: currentColor }
:focus-visible { outline: 2px solid var(--focus); outline-offset: 2px; border-radius: 3px }
code { font: .875em/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; overflow-wrap: anywhere; display: inline-block; max-width: 100%; overflow: clip; vertical-align: bottom }
p, h1, h2, h3, ul, ol, dl, dd, figure { margin: 0; padding: 0 }
ul, ol { list-style: none }
.dim { color: var(--dim) } .bad { --tone: var(--bad); --dot: var(--bad) } .warn { --tone: var(--warn); --dot: var(--mark) }
.good { --tone: var(--good); --dot: var(--good) } .state.dim, .card.dim, .dot.dim { --tone: var(--dim); --dot: var(--dim) } .card.dim { color: inherit }
.n { text-align: right; white-space: nowrap }
.name, .reason, .next, .warnings { overflow-wrap: anywhere; min-width: 0 }

header { display: flex; gap: .75rem; align-items: baseline; padding: 1.25rem 0 1.5rem; font-size: .875rem }
.brand { font-weight: 600; text-decoration: none; letter-spacing: -.01em }
h1 { font-size: 1.75rem; line-height: 1.25; font-weight: 600; letter-spacing: -.02em; color: var(--ink) }
h1[aria-live]::before { content: ""; display: inline-block; width: .55em; height: .55em; margin-right: .45em; border-radius: 50%; background: var(--dot); vertical-align: .08em }
h2 { font-size: 1rem; font-weight: 600; margin: 0 0 .75rem } h2 .dim { font-weight: 400; margin-left: .25rem }
h3 { font-size: 1rem; font-weight: 600 }
section { margin-top: 2.5rem }
.crumb { margin-bottom: .25rem; color: var(--dim) }

.vitals { display: grid; grid-template-columns: repeat(auto-fit, minmax(11rem, 1fr)); gap: 1rem 2rem; margin-top: 1.5rem; padding: 1rem 0; border: solid var(--line); border-width: 1px 0 }
.vitals dt { font-size: .8125rem; color: var(--dim) } .vitals dd { overflow-wrap: anywhere }
.vitals dd + dd { font-size: .8125rem }

.state { color: var(--tone); font-weight: 500; white-space: nowrap }
.state::before { content: ""; display: inline-block; width: .5em; height: .5em; margin-right: .45em; border-radius: 50%; background: var(--dot, currentColor); vertical-align: .06em }

.cards { display: grid; gap: .75rem }
.card { background: var(--card); border: 1px solid var(--line); border-left: 3px solid var(--dot, var(--line)); border-radius: 6px; padding: .875rem 1.125rem }
main > .card { margin-top: 1.25rem }
.top { display: flex; flex-wrap: wrap; gap: .25rem .875rem; align-items: baseline } .top .when { margin-left: auto }
.when { font-size: .875rem }
.reason { margin-top: .375rem; max-width: 75ch } .next { margin-top: .375rem; color: var(--dim); max-width: 75ch }
.commands { display: flex; flex-wrap: wrap; gap: .5rem; margin-top: .625rem }
.commands li { min-width: 0 }
.commands code, .empty code { padding: .125rem .5rem; border-radius: 4px; background: var(--wash); user-select: all }
.warnings { margin-top: .5rem; color: var(--dim); font-size: .875rem } .warnings li::before { content: "Warning: " }
.empty { color: var(--dim) }
.names { display: flex; flex-wrap: wrap; gap: 0 .875rem } .names li { min-width: 0; overflow-wrap: anywhere } .top details { margin-top: 0 }
.cards + details .cards, section > details > .cards { margin-top: .75rem } section > details > summary { font-weight: 600 } section > details > summary .dim { font-weight: 400 }

table { width: 100%; border-collapse: collapse } .managed { margin-top: .75rem }
th, td { padding: .5rem 0 .5rem 1.25rem; border-bottom: 1px solid var(--line); text-align: left; vertical-align: baseline; font-weight: 400 }
th:first-child { padding-left: 0 }
thead th { font-size: .8125rem; color: var(--dim); padding-top: 0 }
th.n, td.n { text-align: right }
tbody th.name { font-weight: 500; width: 38% }
td .reason { font-size: .875rem } .delta { padding-left: .625rem } td.code { font-size: .875rem; overflow-wrap: anywhere }
.trend { width: 7rem; padding-block: 0; vertical-align: middle }

.pace { height: .625rem; max-width: 10rem; margin-top: .25rem } .pace path { fill: none; vector-effect: non-scaling-stroke }
.track { stroke: var(--line); stroke-width: 6 } .part { stroke: var(--tone); stroke-width: 6 } .now { stroke: var(--ink); stroke-width: 2 }
.total th, .total td { font-weight: 600; border-bottom: 0 }
svg { display: block; width: 100%; overflow: visible } .spark { height: 1.5rem } .plot { height: 7.5rem }
.line { fill: none; stroke: var(--dim); stroke-width: 1.5; stroke-linejoin: round; vector-effect: non-scaling-stroke }
.area { fill: var(--dim); opacity: .12 } .grid { fill: none; stroke: var(--line); stroke-width: 1; vector-effect: non-scaling-stroke }
.dot { stroke: var(--tone); stroke-width: 6; stroke-linecap: round; vector-effect: non-scaling-stroke }
.bar { fill: var(--dim); opacity: .5 } .lost { fill: var(--bad); opacity: .55 } .lost-key { color: var(--bad); margin-left: auto }
.difference h3 { margin: 1.25rem 0 .25rem } .difference figure { margin: .75rem 0 }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 22rem), 1fr)); gap: 1.25rem; margin-top: 2rem }
figure { background: var(--card); border: 1px solid var(--line); border-radius: 6px; padding: .875rem 1.125rem }
figcaption { display: flex; flex-wrap: wrap; gap: 0 .5rem; align-items: baseline; margin-bottom: .5rem }
figcaption b { font-weight: 500 } figcaption .dim { font-size: .8125rem; margin-left: auto }
.axis { display: flex; justify-content: space-between; gap: 1rem; font-size: .75rem; margin-top: .25rem }

.facts div { display: grid; grid-template-columns: 11rem minmax(0, 1fr); gap: 1rem; padding: .4375rem 0; border-bottom: 1px solid var(--line) }
.facts dt { color: var(--dim) } .facts dd { overflow-wrap: anywhere }
.chips { display: flex; flex-wrap: wrap; gap: .25rem 1rem } .chips li { min-width: 0 }
.events li { display: grid; grid-template-columns: 9rem 11rem minmax(0, 1fr); gap: 0 1rem; padding: .4375rem 0; border-bottom: 1px solid var(--line) }
.events .n { text-align: left } .events .reason { grid-column: 2 / -1; margin-top: 0 }

details { margin-top: .75rem } summary { cursor: pointer; width: fit-content } details table { margin-top: .75rem } td .reason { margin-top: 0 }

form { margin-bottom: .75rem } label { color: var(--dim) }
select, button { font: inherit; color: inherit; background: var(--card); border: 1px solid var(--line); border-radius: 6px; padding: .375rem .625rem }
input { font: inherit; color: inherit; background: var(--card); border: 1px solid var(--line); border-radius: 6px; padding: .375rem .625rem; margin-left: .375rem; width: min(20rem, 100%) }
.pages { display: flex; gap: 1rem; justify-content: center; margin-top: 1rem }
#stale { background: var(--bad); color: var(--ground); border-radius: 6px; padding: .5rem 1rem; margin-bottom: 1.25rem }
footer { display: flex; flex-wrap: wrap; gap: .25rem 1rem; margin-top: 3rem; font-size: .8125rem } footer span { margin-right: auto } footer nav { display: flex; gap: 1rem }

@media (max-width: 44rem) {
  body { padding: 0 1rem 2rem } header { padding: 1rem 0 1.25rem } h1 { font-size: 1.5rem } section { margin-top: 2rem }
  .vitals { grid-template-columns: 1fr 1fr; gap: .875rem 1rem }
  .top .when { margin-left: 0; flex-basis: 100% }
  thead, .n:has(> .none) { display: none } table, tbody { display: block }
  tbody tr { display: flex; flex-wrap: wrap; gap: .125rem .875rem; align-items: baseline; padding: .625rem 0; border-bottom: 1px solid var(--line) }
  tbody th, tbody td { border: 0; padding: 0 } tbody td:empty { display: none }
  tbody th.name { width: auto; flex: 1 1 60% } td.n[data-label]::after { content: " " attr(data-label) }
  td.n { font-size: .875rem; color: var(--dim) } td.when { margin-left: auto }
  .feeds tbody tr { display: grid; grid-template: "name name name state" "postings size trend when" / auto auto minmax(0, 1fr) auto }
  .feeds .name { grid-area: name } .feeds .is { grid-area: state; justify-self: end } .feeds .postings { grid-area: postings }
  .feeds .size { grid-area: size } .feeds .when { grid-area: when } .feeds .delta { display: none }
  .versions tbody tr { display: grid; grid-template: "id is is is when" "postings postings delta size attempts" / auto auto auto minmax(0, 1fr) auto }
  .versions .is { grid-area: is } .versions .when { grid-area: when } .versions .postings { grid-area: postings }
  .versions .delta { grid-area: delta } .versions .size { grid-area: size; justify-self: start } .versions .tries { grid-area: attempts }
  .feeds .trend { grid-area: trend; width: 100%; max-width: 4.5rem; justify-self: end } .feeds .spark { height: 1rem }
  .facts div { grid-template-columns: minmax(0, 1fr); gap: 0 } .facts dt { font-size: .8125rem }
  .events li { grid-template-columns: minmax(0, 1fr) auto } .events .n { display: none } .events .reason { grid-column: 1 / -1 }
}
@media print { footer, form { display: none } body { max-width: none } }
`

/**
 * Fetches the page again and changes only what differs, so focus, selection and scroll position stay. `data-key`
 * identifies an entry. DOMParser runs no script of an answer. A slow host is asked less often, and a hidden page asks
 * each minute. Without an answer for two minutes, title and icon say that the page is stale.
 */
export const SCRIPT = `
const stale = document.querySelector('#stale')
const keyOf = (node) => node.dataset?.key
const morph = (old, fresh) => {
  if (old.nodeName !== fresh.nodeName) return old.replaceWith(fresh)
  if (old.nodeType !== Node.ELEMENT_NODE) {
    if (old.data !== fresh.data) old.data = fresh.data
    return
  }
  for (const { name } of [...old.attributes]) if (name !== 'open' && !fresh.hasAttribute(name)) old.removeAttribute(name)
  for (const { name, value } of fresh.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value)
  const keyed = new Map([...old.children].map((child) => [keyOf(child), child]))
  let at = old.firstChild
  for (const child of [...fresh.childNodes]) {
    const key = keyOf(child)
    const same = key === undefined ? at && keyOf(at) === undefined && at : keyed.get(key)
    if (!same) {
      old.insertBefore(child, at)
      continue
    }
    if (same === at) at = at.nextSibling
    else old.insertBefore(same, at)
    morph(same, child)
  }
  while (at) {
    const next = at.nextSibling
    at.remove()
    at = next
  }
}
const refresh = async () => {
  const answer = await fetch(location.href, { cache: 'no-store', signal: AbortSignal.timeout(10000) })
  if (!answer.ok) throw new Error(answer.status)
  const fresh = new DOMParser().parseFromString(await answer.text(), 'text/html')
  for (const part of ['main', 'footer', 'link', 'title', '#stale b'])
    morph(document.querySelector(part), fresh.querySelector(part))
}
let seen = performance.now()
const fresh = () => {
  stale.hidden = true
  seen = performance.now()
}
const old = () => {
  stale.hidden = false
  if (performance.now() - seen < 120000) return
  const icon = document.querySelector('link')
  icon.href = icon.dataset.stale
  if (!document.title.startsWith('Stale: ')) document.title = 'Stale: ' + document.title
}
const look = () => refresh().then(fresh, old)
const pause = (ms) => new Promise((go) => AbortSignal.timeout(ms).addEventListener('abort', go))
const run = async () => {
  for (let took = 0, last = 0; ; ) {
    await pause(Math.max(3000, 30 * took))
    if (document.hidden && performance.now() - last < 60000) continue
    const began = performance.now()
    await look()
    last = performance.now()
    took = performance.now() - began
  }
}
document.addEventListener('visibilitychange', () => document.hidden || look())
run()
`

const TONES = { good: '16703f', warn: 'c77800', bad: 'c5342b', dim: '7a838c' }

/** Tone is the colour of a state: `warn` needs a person soon, `bad` needs one now. */
export type Tone = keyof typeof TONES

/** icon returns the tab's icon as a data URL: a disc in the colour of the tone. */
export const icon = (tone: Tone) =>
  `data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Ccircle cx='8' cy='8' r='6' fill='%23${TONES[tone]}'/%3E%3C/svg%3E`

const hashed = (text: string) => `'sha256-${hash('sha256', text, 'base64')}'`

export const POLICY = [
  "default-src 'none'",
  `style-src ${hashed(STYLE)}`,
  `script-src ${hashed(SCRIPT)}`,
  "connect-src 'self'",
  'img-src data:',
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ')

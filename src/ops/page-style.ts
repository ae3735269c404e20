// The look of the status page and the script that keeps it fresh, as constants: the policy names each by
// its hash, so that nothing else can run or be loaded.

import { createHash } from 'node:crypto'

export const STYLE = `
:root { color-scheme: light dark; --line: #8884; --bad: #b3261e; --warn: #8a5300; --good: #1a6b35; --dim: #667 }
@media (prefers-color-scheme: dark) { :root { --bad: #ff8a80; --warn: #ffc069; --good: #7bd88f; --dim: #9aa } }
* { box-sizing: border-box }
body { font: 15px/1.45 system-ui, sans-serif; margin: 0 auto; padding: 1rem; max-width: 72rem }
h1 { font-size: 1.2rem; margin: 0 0 .25rem } h2 { font-size: 1rem; margin: 1.5rem 0 .5rem }
p { margin: .25rem 0 } a { color: inherit }
.dim { color: var(--dim) } .bad { color: var(--bad) } .warn { color: var(--warn) } .good { color: var(--good) }
b { font-weight: 600 } code { font: .9em ui-monospace, monospace }
ul { list-style: none; margin: 0; padding: 0 }
li { border: 1px solid var(--line); border-left: .3rem solid currentColor; border-radius: .3rem; padding: .5rem .75rem; margin: 0 0 .5rem }
li p, li b, td { overflow-wrap: anywhere } li .plain { color: CanvasText }
table { border-collapse: collapse; width: 100% } th { text-align: left; color: var(--dim); font-weight: 500 }
th, td { padding: .3rem .75rem .3rem 0; border-bottom: 1px solid var(--line); vertical-align: top }
.n { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums }
svg { display: block; width: 100%; height: 5rem; color: var(--good) }
@media (max-width: 40rem) {
  thead { display: none } tr { display: block; padding: .4rem 0; border-bottom: 1px solid var(--line) }
  td { display: inline; border: 0; padding: 0 .5rem 0 0 } td:first-child { display: block; font-weight: 600 }
}
`

/** Fetches the page again and puts its main part in place of the old one; markup of an answer runs nothing. */
export const SCRIPT = `
const stale = document.querySelector('#stale')
const pause = () => new Promise((go) => AbortSignal.timeout(3000).addEventListener('abort', go))
const refresh = async () => {
  const answer = await fetch(location.href, { cache: 'no-store' })
  if (!answer.ok) throw new Error(answer.status)
  const fresh = new DOMParser().parseFromString(await answer.text(), 'text/html')
  document.querySelector('main').replaceWith(document.adoptNode(fresh.querySelector('main')))
  document.title = fresh.title
}
const run = async () => {
  for (;;) {
    await pause()
    if (!document.hidden) await refresh().then(() => (stale.hidden = true), () => (stale.hidden = false))
  }
}
run()
`

const hashed = (text: string) =>
  `'sha256-${createHash('sha256').update(text, 'utf8').digest('base64')}'`

export const POLICY = [
  "default-src 'none'",
  `style-src ${hashed(STYLE)}`,
  `script-src ${hashed(SCRIPT)}`,
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

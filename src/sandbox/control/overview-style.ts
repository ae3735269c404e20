// The style of the page at `/`, which looks like the status page of the daemon, in light and in dark.

export const STYLE = `
:root {
  color-scheme: light dark;
  --ground: #f7f7f5; --card: #fff; --ink: #1c2024; --dim: #5c646d; --line: #e2e3e0;
  --good: #16703f; --warn: #8a5100; --bad: #b3261e;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #121416; --card: #1a1d20; --ink: #e7e8ea; --dim: #9da5ae; --line: #2c3136;
    --good: #6ecb92; --warn: #f0b35a; --bad: #ff8a7d;
  }
}
* { box-sizing: border-box }
body {
  margin: 0 auto; padding: 0 1.5rem 3rem; max-width: 76rem; background: var(--ground); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif;
  font-variant-numeric: tabular-nums;
}
h1, h2, p, dl, dd { margin: 0 }
h1 { font-size: 1.75rem; line-height: 1.25; font-weight: 600; letter-spacing: -.02em; padding-top: 1.25rem }
h2 { font-size: 1rem; font-weight: 600; margin: 2.5rem 0 .75rem }
h2 .dim { font-weight: 400; margin-left: .25rem }
.dim { color: var(--dim) } .good { color: var(--good) } .warn { color: var(--warn) } .bad { color: var(--bad) }
dl {
  display: grid; grid-template-columns: repeat(auto-fit, minmax(14rem, 1fr)); gap: 1rem 2rem; margin-top: 1.5rem;
  padding: 1rem 0; border: solid var(--line); border-width: 1px 0;
}
dt { font-size: .8125rem; color: var(--dim) } dd { overflow-wrap: anywhere }
.scroll { overflow-x: auto }
table { width: 100%; border-collapse: collapse; font-size: .875rem }
th, td {
  padding: .4rem 0 .4rem 1.25rem; border-bottom: 1px solid var(--line); text-align: left; vertical-align: baseline;
  overflow-wrap: anywhere;
}
th:first-child, td:first-child { padding-left: 0 }
th { font-size: .8125rem; font-weight: 400; color: var(--dim); white-space: nowrap }
`

import { runInNewContext } from 'node:vm'
import { expect, it } from 'vitest'
import { SCRIPT } from '../../src/ops/page-style.ts'

/** The little of a browser that the page's script touches; `tick` lets its pause end. */
function browser() {
  const pauses: (() => void)[] = []
  const replaced: string[] = []
  const page = {
    hidden: false,
    title: 'before',
    querySelector: (what: string) =>
      what === '#stale' ? stale : { replaceWith: (fresh: string) => replaced.push(fresh) },
    adoptNode: (node: string) => node,
  }
  const stale = { hidden: true }
  const server = { answer: async () => ({ ok: true, status: 200, text: async () => 'fresh' }) }
  const asked: string[] = []
  runInNewContext(SCRIPT, {
    document: page,
    location: { href: 'http://localhost/' },
    AbortSignal: {
      timeout: () => ({ addEventListener: (_: string, go: () => void) => pauses.push(go) }),
    },
    fetch: (url: string) => {
      asked.push(url)
      return server.answer()
    },
    DOMParser: class {
      parseFromString = (text: string) => ({ title: `title of ${text}`, querySelector: () => text })
    },
  })
  const tick = async () => {
    pauses.shift()?.()
    while (pauses.length === 0) await Promise.resolve()
  }
  return { page, stale, server, asked, replaced, tick }
}

it('the page puts what the daemon answers in place of its main part, again and again', async () => {
  const { page, asked, replaced, stale, tick } = browser()

  await tick()
  await tick()

  expect(asked).toEqual(['http://localhost/', 'http://localhost/'])
  expect(replaced).toEqual(['fresh', 'fresh'])
  expect([page.title, stale.hidden]).toEqual(['title of fresh', true])
})

it('the page says that it is old while the daemon does not answer, until it does', async () => {
  const { server, stale, tick } = browser()
  const { answer } = server

  server.answer = () => Promise.reject(new Error('refused'))
  await tick()
  const away = stale.hidden
  server.answer = async () => ({ ok: false, status: 503, text: async () => 'no' })
  await tick()
  const failing = stale.hidden
  server.answer = answer
  await tick()

  expect([away, failing, stale.hidden]).toEqual([false, false, true])
})

it('the page asks nothing while nobody looks at it', async () => {
  const { page, asked, tick } = browser()
  page.hidden = true

  await tick()

  expect(asked).toEqual([])
})

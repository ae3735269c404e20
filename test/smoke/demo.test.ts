import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { MAIN } from '../helpers/site.ts'

it('feedsyncd demo waits for the rest of a feed, delivers its feeds, rejects the broken feed, shows the status and ends', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [MAIN, 'demo'])

  expect(stdout).toMatch(/^ *[\d.]+ s {2}cut-short\.xml +incomplete: /m)
  const [, table = ''] = /\n\n(daemon [\s\S]*)$/.exec(stdout) ?? []
  const states = [...table.matchAll(/^ *\d+ +(\S+\.xml) +(\w+)/gm)].map((row) => row.slice(1))
  expect(states.sort()).toEqual([
    ['attributes-latin1.xml', 'uploaded'],
    ['bare-ampersand.xml', 'rejected'],
    ['cut-short.xml', 'uploaded'],
    ['indeed/nursing.xml', 'uploaded'],
    ['postings-utf16.xml', 'uploaded'],
    ['rss-bom.xml', 'uploaded'],
  ])
})

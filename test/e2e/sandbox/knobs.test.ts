import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { systemClock } from '../../../src/lib/clock.ts'
import type { Knobs } from '../../../src/sandbox/knobs.ts'
import { runWithin } from '../../helpers/command.ts'
import { sandboxCommand, sandboxFolder } from '../../helpers/sandbox/process.ts'
import { sandbox } from '../../helpers/sandbox/sandbox.ts'
import { CAMPAIGNS, call, create } from '../../helpers/sandbox/vendor.ts'

/** sandboxWith starts a sandbox and sets its knobs through the control route. */
async function sandboxWith(knobs: Partial<Knobs>) {
  let ahead = 0
  const box = await sandbox({ clock: { ...systemClock, now: () => Date.now() + ahead } })
  const answer = await putKnobs(box, knobs)
  expect(answer.status).toBe(200)
  const pass = (ms: number) => {
    ahead += ms
  }
  const search = async (query = '') => (await call(box.url, 'GET', CAMPAIGNS + query)).json
  return { ...box, pass, search }
}

const putKnobs = (box: { controlUrl: string }, knobs: object) =>
  fetch(`${box.controlUrl}/knobs`, { method: 'PUT', body: JSON.stringify(knobs) })

const namesOf = (campaigns: { name: string }[]) => campaigns.map(({ name }) => name)

describe('a knob', () => {
  it('listField names the list in the answer of a search', async () => {
    const { url, search } = await sandboxWith({ listField: 'items' })
    await create(url)

    const page = await search()

    expect(page.items).toHaveLength(1)
    expect(page).not.toHaveProperty('campaigns')
  })

  it('showTargeting lets answers show the targeting', async () => {
    const { url, search } = await sandboxWith({ showTargeting: true })
    const { json } = await create(url, { targeting: { jobTitles: ['nurse'] } })

    expect(json.targeting).toMatchObject({ jobTitles: ['nurse'] })
    expect((await search()).campaigns).toEqual([json])
  })

  it('listArchived leaves archived campaigns out of a search without Status', async () => {
    const { url, search } = await sandboxWith({ listArchived: false })
    await create(url, { status: 2 })

    expect((await search()).total).toBe(0)
    expect((await search('?Status=2')).total).toBe(1)
  })

  it.each([
    ['exact', []],
    ['substring', ['Night nurses']],
    ['case-fold', ['Night nurses', 'NURSES']],
  ] as const)('nameRule says how Name matches: %s', async (nameRule, names) => {
    const { url, search } = await sandboxWith({ nameRule })
    for (const name of ['Night nurses', 'NURSES', 'Cooks']) await create(url, { name })

    expect(namesOf((await search('?Name=nurse')).campaigns)).toEqual(names)
  })

  it('nameLength cuts the name of a new campaign', async () => {
    const { url } = await sandboxWith({ nameLength: 3 })

    expect((await create(url)).json.name).toBe('Nur')
  })

  it.each([
    [0, 'C3'],
    [1, 'C2'],
    ['ignored', 'C1'],
  ] as const)('start says what Start means: %s', async (start, name) => {
    const { url, search } = await sandboxWith({ start })
    for (const n of [1, 2, 3]) await create(url, { name: `C${n}` })

    expect((await search('?Start=2')).campaigns[0]?.name).toBe(name)
  })

  it('pageSize cuts a larger Num, and a Num above largestNum is refused with 400', async () => {
    const { url, search } = await sandboxWith({ pageSize: 2, largestNum: 3 })
    for (const n of [1, 2, 3]) await create(url, { name: `C${n}` })

    const page = await search('?Num=3')

    expect([page.numRequested, page.campaigns.length, page.total]).toEqual([3, 2, 3])
    expect((await call(url, 'GET', `${CAMPAIGNS}?Num=4`)).status).toBe(400)
  })

  it('unsorted gives the rows in another order each time', async () => {
    const { url, search } = await sandboxWith({ unsorted: true })
    for (const n of [1, 2, 3]) await create(url, { name: `C${n}` })

    const [one, two] = [namesOf((await search()).campaigns), namesOf((await search()).campaigns)]

    expect(one).not.toEqual(two)
    expect(one.sort()).toEqual(two.sort())
  })

  it('fromCache is the value of this field in the answer of a search', async () => {
    expect((await (await sandboxWith({ fromCache: null })).search()).fromCache).toBeNull()
  })

  it('listedAfterMs hides a new campaign for this time from searches, and not from a read', async () => {
    const { url, search, pass } = await sandboxWith({ listedAfterMs: 60_000 })
    const { json } = await create(url)

    expect((await search()).total).toBe(0)
    expect((await call(url, 'GET', `${CAMPAIGNS}/${json.id}`)).status).toBe(200)
    pass(60_000)
    expect((await search()).total).toBe(1)
  })

  it('targetingPut with merge lets an update keep the criteria that it does not name', async () => {
    const { url } = await sandboxWith({ targetingPut: 'merge', showTargeting: true })
    const targeting = { jobTitles: ['nurse'], postalCodes: ['02139'] }
    const { json } = await create(url, { targeting })

    const put = await call(url, 'PUT', `${CAMPAIGNS}/${json.id}`, {
      targeting: { jobTitles: ['cook'] },
    })

    expect(put.json.targeting).toMatchObject({ ...targeting, jobTitles: ['cook'] })
  })

  it.each([
    ['json', 'application/json; charset=utf-8', /^\{"code":"not-found","message":".+"\}$/],
    ['html', 'text/html', /^<!doctype html>/],
    ['none', 'text/html', /^$/],
  ] as const)('errorBody shapes the bodies of errors: %s', async (errorBody, type, body) => {
    const { url } = await sandboxWith({ errorBody })

    const answer = await fetch(`${url}/v1/nothing`)

    expect(answer.status).toBe(404)
    expect(answer.headers.get('content-type')).toBe(type)
    expect(await answer.text()).toMatch(body)
  })

  it('largestBody is the limit above which a body is refused with 413', async () => {
    const { url } = await sandboxWith({ largestBody: 100 })

    expect((await create(url)).status).toBe(200)
    expect((await create(url, { name: 'x'.repeat(100) })).status).toBe(413)
  })

  it('is refused with 400 if its name or its value is wrong', async () => {
    const box = await sandbox()

    for (const knobs of [{ color: 'red' }, { start: 2 }, { pageSize: 0 }]) {
      expect((await putKnobs(box, knobs)).status).toBe(400)
    }
  })

  it('can be set by a file at the start, and a wrong file ends the start with 64', async () => {
    const directory = sandboxFolder()
    const file = join(directory, 'knobs.json')
    writeFileSync(file, '{"errorBody":"none","pageSize":7}')
    const { facts } = await sandboxCommand(directory, '--knobs', file)

    const knobs = await (await fetch(`${new URL(facts.url).origin}/_sandbox/knobs`)).json()

    expect(knobs).toMatchObject({ errorBody: 'none', pageSize: 7, listField: 'campaigns' })
    writeFileSync(file, '{"color":"red"}')
    const { code } = await runWithin(['sandbox', '--dir', directory, '--knobs', file])
    expect(code).toBe(64)
  })
})

import { describe, expect, it } from 'vitest'
import { eventually } from '../../helpers/eventually.ts'
import { sandbox } from '../../helpers/sandbox/sandbox.ts'
import { CAMPAIGNS, call, create, feedOf, PRESIGN, post } from '../../helpers/sandbox/vendor.ts'
import { waitForObjects } from '../../helpers/sandbox/waiting.ts'

const add = (box: { controlUrl: string }, ...faults: object[]) =>
  fetch(`${box.controlUrl}/faults`, { method: 'POST', body: JSON.stringify(faults) })

const totalOf = async (url: string) => (await call(url, 'GET', CAMPAIGNS)).json.total

describe('a fault', () => {
  it('can delay the creation of a campaign until after its answer is lost', async () => {
    const box = await sandbox()
    const lost = { at: 'service', kind: 'commit-drop', how: 'rst', route: 'campaign-create' }
    await add(box, { ...lost, afterMs: 300 })

    await expect(create(box.url)).rejects.toThrow()

    const before = await totalOf(box.url)
    await eventually(async () => expect(await totalOf(box.url)).toBe(1))
    expect(before).toBe(0)
  })

  it('can delay the storing of a feed until after its answer is lost', async () => {
    const box = await sandbox()
    const { json: form } = await call(box.url, 'POST', PRESIGN)
    await add(box, { at: 'storage', kind: 'lose-answer', stored: true, how: 'fin', afterMs: 300 })

    await expect(post(form, feedOf({ title: 'Nurse' }))).rejects.toThrow()

    const before = box.objects().length
    expect(await waitForObjects(box, 1)).toHaveLength(1)
    expect(before).toBe(0)
  })

  it('is repeatable: the same seeds and requests give the same answers, and the log names the faults', async () => {
    const storm = [
      { at: 'service', kind: 'answer', status: 503, percent: 40, seed: 7 },
      { at: 'service', kind: 'answer', status: 429, retryAfter: '2', percent: 30, seed: 8 },
    ]
    const play = async () => {
      const box = await sandbox()
      await add(box, ...storm)
      const answers: number[] = []
      for (let n = 0; n < 40; n++) answers.push((await call(box.url, 'GET', CAMPAIGNS)).status)
      const requests = await (await fetch(`${box.controlUrl}/requests`)).json()
      const oldestFirst = (requests as { status: number; faults: string[] }[]).reverse()
      return { answers, requests: oldestFirst }
    }

    const [first, second] = [await play(), await play()]

    expect(second.answers).toEqual(first.answers)
    expect([...new Set(first.answers)].sort()).toEqual([200, 429, 503])
    expect(first.requests.map(({ status }) => status)).toEqual(first.answers)
    expect(first.requests.map(({ faults }) => faults.length > 0)).toEqual(
      first.answers.map((status) => status !== 200),
    )
  })
})

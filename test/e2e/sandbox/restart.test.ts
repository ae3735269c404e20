import { once } from 'node:events'
import { createServer } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { runWithin } from '../../helpers/command.ts'
import { killed, sandboxFolder, sandboxProcess } from '../../helpers/sandbox/process.ts'
import { CAMPAIGNS, feedOf, PRESIGN, post } from '../../helpers/sandbox/vendor.ts'

describe('feedsyncd sandbox', () => {
  it('keeps campaigns, objects, requests, forms, addresses and used ids when it is killed and started again', async () => {
    const directory = sandboxFolder()
    const first = await sandboxProcess(directory)
    const feed = feedOf({ title: 'Nurse', campaignid: 'N' })
    const { json: form } = await first.ask('POST', PRESIGN)
    const { json: later } = await first.ask('POST', PRESIGN)
    await post(form, feed)
    const targeting = { externalCampaignId: 'N' }
    const { json: made } = await first.ask('POST', CAMPAIGNS, {
      name: 'Nurses',
      budget: 9.5,
      targeting,
    })
    await first.ask('PUT', `${CAMPAIGNS}/${made.id}`, { endDate: '2999-01-01T00:00:00Z' })
    const { campaigns } = (await first.ask('GET', CAMPAIGNS)).json
    const { json: objects } = await first.control('objects')
    const { json: requests } = await first.control<unknown[]>('requests')
    await killed(first.child)

    const second = await sandboxProcess(directory)

    expect(second.printed).toEqual(first.printed)
    expect((await second.ask('GET', CAMPAIGNS)).json.campaigns).toEqual(campaigns)
    expect(campaigns).toMatchObject([{ endDate: '2999-01-01T00:00:00Z', sponsoredPostings: 1 }])
    expect((await second.control('objects')).json).toEqual(objects)
    expect((await second.control<unknown[]>('requests')).json.slice(-requests.length)).toEqual(
      requests,
    )
    expect((await second.ask('POST', CAMPAIGNS, { name: 'Cooks' })).json.id).not.toBe(made.id)
    expect(await (await fetch(form.fileUrl)).text()).toBe(feed)
    expect((await post(later, feed)).status).toBe(201)
  })

  it('serves a stored feed to GET and its size and ETag to HEAD, and answers 404 before the upload and 405 to DELETE', async () => {
    const { ask } = await sandboxProcess(sandboxFolder())
    const { json: form } = await ask('POST', PRESIGN)
    const feed = feedOf({ title: 'Nürse & Co'.replace('&', '&amp;') })
    const before = await fetch(form.fileUrl)
    await post(form, feed)

    const [get, head] = [await fetch(form.fileUrl), await fetch(form.fileUrl, { method: 'HEAD' })]

    expect([before.status, get.status, head.status]).toEqual([404, 200, 200])
    expect(await get.text()).toBe(feed)
    expect(head.headers.get('content-length')).toBe(String(Buffer.byteLength(feed)))
    expect(head.headers.get('etag')).toBe(get.headers.get('etag'))
    expect((await fetch(form.fileUrl, { method: 'DELETE' })).status).toBe(405)
  })

  it('ends with 75 and names the address if another program uses its port', async () => {
    const directory = sandboxFolder()
    const { child, printed } = await sandboxProcess(directory)
    await killed(child)
    const taken = createServer().listen(Number(new URL(printed.storageUrl).port), '127.0.0.1')
    await once(taken, 'listening')
    onTestFinished(() => void taken.close())

    const { code, stderr } = await runWithin(['sandbox', '--dir', directory])

    expect(code).toBe(75)
    expect(stderr).toMatch(/the storage cannot listen on 127\.0\.0\.1:\d+: .*EADDRINUSE/)
  })
})

import { type ChildProcess, spawn } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { describe, expect, it, onTestFinished } from 'vitest'
import { runWithin } from '../../helpers/command.ts'
import { CAMPAIGNS, feedOf, PRESIGN, post } from '../../helpers/sandbox/vendor.ts'
import { MAIN } from '../../helpers/site.ts'

function folder(): string {
  const directory = mkdtempSync(join(tmpdir(), 'feedsyncd-sandbox-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  return directory
}

/** started starts a sandbox in a process of its own, with functions that call its service and its control routes. */
async function started(directory: string) {
  const child = spawn(process.execPath, [MAIN, 'sandbox', '--json', '--dir', directory], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const [line] = await once(createInterface(child.stdout), 'line')
  const printed = JSON.parse(line)
  const secret = readFileSync(printed.keyFile, 'utf8').trimEnd()
  const ask = async (method: string, path: string, json?: object) => {
    const [date, body] = [new Date().toUTCString(), json ? JSON.stringify(json) : '']
    const signature = createHmac('sha1', secret).update(`${method}${path}?;${body};${date}`)
    const headers = {
      ...{ 'X-SVC-Account': printed.account, 'X-SVC-Date': date },
      'X-SVC-Signature': signature.digest('base64'),
    }
    const answer = await fetch(printed.url + path, { method, headers, ...(json && { body }) })
    // biome-ignore lint/suspicious/noExplicitAny: each test checks the fields that it reads.
    return (await answer.json()) as any
  }
  // biome-ignore lint/suspicious/noExplicitAny: each test checks the fields that it reads.
  const control = async (what: string): Promise<any> =>
    (await fetch(`${new URL(printed.url).origin}/_sandbox/${what}`)).json()
  return { child, printed, ask, control }
}

async function killed(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL')
  await once(child, 'exit')
}

describe('feedsyncd sandbox', () => {
  it('keeps campaigns, objects, addresses and used ids when it is killed and started again', async () => {
    const directory = folder()
    const first = await started(directory)
    const feed = feedOf({ title: 'Nurse', campaignid: 'N' })
    const form = await first.ask('POST', PRESIGN)
    const later = await first.ask('POST', PRESIGN)
    await post(form, feed)
    const targeting = { externalCampaignId: 'N' }
    const made = await first.ask('POST', CAMPAIGNS, { name: 'Nurses', budget: 9.5, targeting })
    await first.ask('PUT', `${CAMPAIGNS}/${made.id}`, { endDate: '2999-01-01T00:00:00Z' })
    const { campaigns } = await first.ask('GET', CAMPAIGNS)
    const [objects, requests] = [await first.control('objects'), await first.control('requests')]
    await killed(first.child)

    const second = await started(directory)

    expect(second.printed).toEqual(first.printed)
    expect((await second.ask('GET', CAMPAIGNS)).campaigns).toEqual(campaigns)
    expect(campaigns).toMatchObject([{ endDate: '2999-01-01T00:00:00Z', sponsoredPostings: 1 }])
    expect(await second.control('objects')).toEqual(objects)
    expect((await second.control('requests')).slice(-requests.length)).toEqual(requests)
    expect((await second.ask('POST', CAMPAIGNS, { name: 'Cooks' })).id).not.toBe(made.id)
    expect(await (await fetch(form.fileUrl)).text()).toBe(feed)
    expect((await second.control('openapi.json')).openapi).toBe('3.1.0')
    // A form of the first run is still valid.
    expect((await post(later, feed)).status).toBe(201)
  })

  it('serves a stored feed to GET and HEAD, and answers 404 before the upload', async () => {
    const { ask } = await started(folder())
    const form = await ask('POST', PRESIGN)
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

  it('names the port that another program uses', async () => {
    const directory = folder()
    const { child, printed } = await started(directory)
    await killed(child)
    const taken = createServer().listen(Number(new URL(printed.storageUrl).port), '127.0.0.1')
    await once(taken, 'listening')
    onTestFinished(() => void taken.close())

    const { code, stderr } = await runWithin(['sandbox', '--dir', directory])

    expect(code).toBe(75)
    expect(stderr).toMatch(/the storage cannot listen on 127\.0\.0\.1:\d+: .*EADDRINUSE/)
  })
})

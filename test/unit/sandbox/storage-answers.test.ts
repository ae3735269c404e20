import { describe, expect, it } from 'vitest'
import type { Sandbox } from '../../../src/sandbox/sandbox.ts'
import { codeOf, messageOf, partsOf, post, presign } from '../../helpers/sandbox/client.ts'
import { sandbox } from '../../helpers/sandbox/sandbox.ts'

const FILE = 'x'.repeat(1000)

async function store(box: Sandbox) {
  const form = await presign(box.url)
  return post(form.url, partsOf(form, FILE))
}

describe('a success', () => {
  it.each([
    [{ status: 204 }, 204, /^$/],
    [{ status: 200, body: 'html' }, 200, /<title>Log in/],
    [{ body: 'truncated' }, 201, /<PostResponse>(?!.*<\/PostResponse>)/],
  ] as const)(
    'stores the object and can have an unexpected status or body: %j',
    async (change, status, body) => {
      await using box = await sandbox()
      box.faults.add({ at: 'storage', kind: 'success', ...change })

      const reply = await store(box)

      expect(reply.status).toBe(status)
      expect(reply.body).toMatch(body)
      expect(box.objects()).toHaveLength(1)
    },
  )

  it('can have an ETag that is wrong, opaque, missing, weak or unquoted', async () => {
    await using box = await sandbox()
    const kinds = ['wrong', 'opaque', 'missing', 'weak', 'unquoted'] as const
    for (const etag of kinds) {
      box.faults.add({ at: 'storage', kind: 'success', etag, times: 1 })
    }

    const etags: (string | undefined)[] = []
    for (const _ of kinds) etags.push((await store(box)).headers.etag as string | undefined)

    const md5 = box.objects()[0]?.md5
    expect(etags[0]).toMatch(/^"[0-9a-f]{32}"$/)
    expect(etags[0]).not.toBe(`"${md5}"`)
    expect(etags[1]).not.toMatch(/^"[0-9a-f]{32}"$/)
    expect(etags.slice(2)).toEqual([undefined, `W/"${md5}"`, md5])
  })

  it('can have a wrong checksum', async () => {
    await using box = await sandbox()
    box.faults.add({ at: 'storage', kind: 'success', checksum: 'wrong' })

    const reply = await store(box)

    expect(reply.headers['x-store-checksum-crc64nvme']).toBe('AAAAAAAAAAA=')
  })

  it('can be cut after its status, with the object stored', async () => {
    await using box = await sandbox()
    box.faults.add({ at: 'storage', kind: 'success', body: 'cut' })

    await expect(store(box)).rejects.toThrow(/aborted|ECONNRESET/)

    expect(box.objects()).toHaveLength(1)
    expect(box.requests().at(-1)).toMatchObject({ status: 201, stored: true })
  })

  it('can have the status 201 although nothing is stored', async () => {
    await using box = await sandbox()
    box.faults.add({ at: 'storage', kind: 'success', stored: false })

    const reply = await store(box)

    expect(reply.status).toBe(201)
    expect(box.objects()).toEqual([])
  })
})

describe('other answers of the storage', () => {
  it.each([
    [307, 'same-host', /^http:\/\/127\.0\.0\.1:\d+\/elsewhere$/],
    [308, 'loop', /^http:\/\/127\.0\.0\.1:\d+\/feeds$/],
    [303, 'http://foreign.example/x', /^http:\/\/foreign\.example\/x$/],
  ])('redirect by %i to %s, and store nothing', async (status, location, shown) => {
    await using box = await sandbox()
    box.faults.add({ at: 'storage', kind: 'redirect', status, location, point: 'fields' })

    const reply = await store(box)

    expect(reply.status).toBe(status)
    expect(reply.headers.location).toMatch(shown)
    expect(box.objects()).toEqual([])
  })

  it('name the endpoint in a permanent redirect', async () => {
    await using box = await sandbox()
    box.faults.add({
      at: 'storage',
      kind: 'redirect',
      status: 301,
      location: 'https://eu.store.example/feeds',
    })

    const reply = await store(box)

    expect(codeOf(reply)).toBe('PermanentRedirect')
    expect(reply.body).toContain('<Endpoint>eu.store.example</Endpoint>')
  })

  it('can be HTML with status 502, as a proxy sends it', async () => {
    await using box = await sandbox()
    box.faults.add({ at: 'storage', kind: 'answer', status: 502, body: '<html>Bad Gateway</html>' })

    const reply = await store(box)

    expect(reply).toMatchObject({ status: 502, headers: { 'content-type': 'text/html' } })
  })

  it.each([
    [{ lifetimeMs: -1000 }, 403, 'Invalid according to Policy: Policy expired.'],
    [{ policy: 'not-base64' }, 400, 'Invalid Policy: Invalid JSON.'],
    [{ policy: 'not-json' }, 400, 'Invalid Policy: Invalid JSON.'],
    [{ policy: 'no-expiration' }, 400, 'Invalid Policy: Policy missing expiration.'],
    [{ policy: 'whole-seconds' }, 201, undefined],
    [{ policy: 'with-newlines' }, 201, undefined],
  ] as const)(
    'judge a form that the service issued with %j: %i %s',
    async (change, status, message) => {
      await using box = await sandbox()
      box.faults.add({ at: 'service', kind: 'form', ...change })

      const reply = await store(box)

      expect(reply.status).toBe(status)
      expect(messageOf(reply)).toBe(message)
    },
  )

  it('can be for the object of one key only', async () => {
    await using box = await sandbox()
    const [one, two] = [await presign(box.url), await presign(box.url)]
    box.faults.add({
      at: 'storage',
      kind: 's3-error',
      code: 'NoSuchBucket',
      key: String(two.fields.key),
    })

    const replies = [
      await post(one.url, partsOf(one, FILE)),
      await post(two.url, partsOf(two, FILE)),
    ]

    expect(replies.map(({ status }) => status)).toEqual([201, 404])
  })
})

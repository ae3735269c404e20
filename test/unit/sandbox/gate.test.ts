import { describe, expect, it } from 'vitest'
import type { GatePoint } from '../../../src/sandbox/faults/fault-types.ts'
import { parseFaults } from '../../../src/sandbox/faults/fault-types.ts'
import { remoteGate } from '../../helpers/gate.ts'
import {
  type Form,
  PRESIGN,
  partsOf,
  post,
  presign,
  RawConnection,
} from '../../helpers/sandbox/client.ts'
import { sandbox } from '../../helpers/sandbox/sandbox.ts'
import { waitForRequest } from '../../helpers/sandbox/waiting.ts'

const FILE = Buffer.alloc(1_000_000, 'x')
const upload = (form: Form) => post(form.url, partsOf(form, FILE))

describe('a gate at the service', () => {
  it.each<GatePoint>(['headers', 'end', 'answer'])(
    'holds a request at "%s" until its release, and the log shows it',
    async (point) => {
      await using box = await sandbox()
      const gate = box.faults.add({ at: 'service', kind: 'gate', point, route: 'presign' })

      const answered = presign(box.url)
      await gate.held()
      const held = box.requests()
      gate.release()

      expect(held).toMatchObject([{ route: 'presign', held: true, status: null }])
      expect((await answered).url).toBe(box.storageUrl)
      expect(box.requests()).toMatchObject([{ held: false, status: 200, faults: ['gate'] }])
    },
  )

  it('combines with other faults: a held request can be refused after its release', async () => {
    await using box = await sandbox()
    const gate = box.faults.add({ at: 'service', kind: 'gate', point: 'headers' })
    box.faults.add({ at: 'service', kind: 'answer', status: 503 })

    const answered = presign(box.url)
    await gate.held()
    gate.release()

    await expect(answered).rejects.toThrow('503')
  })

  it('holds at "end" before the request is carried out, and at "answer" after that', async () => {
    await using box = await sandbox()
    const forms = async (point: GatePoint) => {
      const gate = box.faults.add({ at: 'service', kind: 'gate', point })
      const answered = presign(box.url)
      await gate.held()
      const issued = box.requests().at(-1)?.key !== null
      gate.remove()
      await answered
      return issued
    }

    expect([await forms('end'), await forms('answer')]).toEqual([false, true])
  })
})

describe('a gate at the storage', () => {
  it.each([
    ['headers', { fileBytes: null, stored: false }, 0],
    ['end', { fileBytes: FILE.length, stored: false }, 0],
    ['answer', { fileBytes: FILE.length, stored: true }, 1],
  ] as const)(
    'holds a POST at "%s" until its release, with %j and %i objects',
    async (point, seen, objects) => {
      await using box = await sandbox()
      const form = await presign(box.url)
      const gate = box.faults.add({ at: 'storage', kind: 'gate', point })

      const answered = upload(form)
      await gate.held()
      const held = box.requests().at(-1)
      const stored = box.objects().length
      gate.release()

      expect(held).toMatchObject({ ...seen, status: null, held: true })
      expect(stored).toBe(objects)
      expect((await answered).status).toBe(201)
      expect(box.objects()).toHaveLength(1)
    },
  )

  it.each([1, 300_000, -1000])(
    'holds a POST within 100 kB after byte %d of the file, until its release',
    async (fileByte) => {
      await using box = await sandbox()
      const form = await presign(box.url)
      const gate = box.faults.add({ at: 'storage', kind: 'gate-at-byte', fileByte })

      const answered = upload(form)
      await gate.held()
      const read = box.requests().at(-1)?.fileBytes ?? 0
      gate.release()

      const from = fileByte < 0 ? FILE.length + fileByte : fileByte
      expect(read).toBeGreaterThanOrEqual(from)
      expect(read).toBeLessThan(from + 100_000)
      expect((await answered).status).toBe(201)
    },
  )

  it('holds only the object with its key, or as many requests as `times` says, until its removal', async () => {
    await using box = await sandbox()
    const [one, two, three] = [
      await presign(box.url),
      await presign(box.url),
      await presign(box.url),
    ]
    const key = one.fields.key ?? ''
    const gate = box.faults.add({ at: 'storage', kind: 'gate', point: 'end', key })
    const first = box.faults.add({ at: 'storage', kind: 'gate', point: 'end', times: 1 })

    const held = upload(one)
    await gate.held()
    const alsoHeld = upload(two)
    await first.held()
    await upload(three)
    box.faults.clear()

    expect((await Promise.all([held, alsoHeld])).map(({ status }) => status)).toEqual([201, 201])
  })
})

describe('a released gate', () => {
  it('holds the next request, and meets none after its removal', async () => {
    await using box = await sandbox()
    const gate = box.faults.add({ at: 'service', kind: 'gate', point: 'headers' })
    const [one, two] = [presign(box.url), presign(box.url)]
    await gate.held(2)
    gate.release()
    await Promise.all([one, two])
    const three = presign(box.url)
    await gate.held()

    gate.remove()

    await three
    await presign(box.url)
    expect(gate.played()).toBe(3)
  })

  it('does not hold a request that met it before its removal and reaches it after', async () => {
    await using box = await sandbox()
    const gate = box.faults.add({ at: 'service', kind: 'gate', point: 'answer' })
    using client = new RawConnection(box.url)
    client.write(`POST /api${PRESIGN} HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n`)
    await waitForRequest(box, ({ faults }) => faults.includes('gate'))

    gate.remove()
    client.write('{}')

    expect(await client.until('\r\n\r\n')).toMatch(/^HTTP\/1\.1 401 /)
  })
})

describe('a held request', () => {
  it('ends when its client closes the connection', async () => {
    await using box = await sandbox()
    box.faults.add({ at: 'service', kind: 'gate', point: 'end' })
    using client = new RawConnection(box.url)
    client.write('POST /api/v1/presigned-storage-posting-post HTTP/1.1\r\nHost: x\r\n\r\n')
    await waitForRequest(box, ({ held }) => held)

    client.socket.destroy()

    await waitForRequest(box, ({ endedAt }) => endedAt !== null)
  })

  it('does not stop the sandbox from closing', async () => {
    const box = await sandbox()
    const gate = box.faults.add({ at: 'service', kind: 'gate', point: 'answer' })
    const answered = presign(box.url)
    answered.catch(() => {})
    await gate.held()

    await box.close()

    await expect(answered).rejects.toThrow()
  })
})

describe('the control routes', () => {
  it('add, release and remove a gate, and answer 404 for a removed gate', async () => {
    await using box = await sandbox()
    const gate = await remoteGate(box.controlUrl, { at: 'service', kind: 'gate', point: 'answer' })

    const one = presign(box.url)
    await gate.held()
    await gate.release()
    await one
    const two = presign(box.url)
    await gate.held()
    await gate.remove()

    await two
    await presign(box.url)
    await expect(gate.release()).rejects.toThrow('404')
  })
})

describe('a gate in JSON', () => {
  it('is read like any other rule', () => {
    const rule = { at: 'storage', kind: 'gate-at-byte', fileByte: 10, times: 1 }

    expect(parseFaults(JSON.stringify(rule))).toEqual([rule])
  })
})

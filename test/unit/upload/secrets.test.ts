import { describe, expect, it } from 'vitest'
import type { FaultRule } from '../../../src/sandbox/fault-types.ts'
import { type Harness, harness, SECRET } from '../../helpers/upload/harness.ts'

const PROXY_PASSWORD = 'password-of-the-proxy'
const FEED = '<jobs><job id="1"/></jobs>'
const OPEN_FIELDS = new Set(['key', 'success_action_status', 'x-store-algorithm', 'content-type'])

/** Echoes what it was sent, as a careless server does. */
const echo = (
  value: string,
) => `<Error><Code>AccessDenied</Code><Message>Invalid according to Policy:
  Policy Condition failed: ["eq", "$x", "${value}"]</Message></Error>`

async function withSecrets(env: Record<string, string> = {}) {
  const secrets = new Set([SECRET, PROXY_PASSWORD])
  const h = await harness({
    env,
    forms: (real) => ({
      ...real,
      requestForm: async (account, signal) => {
        const answer = await real.requestForm(account, signal)
        if (answer.kind !== 'form') return answer
        for (const [name, value] of answer.form.fields)
          if (!OPEN_FIELDS.has(name)) secrets.add(value)
        secrets.add('token-of-the-address')
        const url = `${answer.form.url}?sig=token-of-the-address`
        const fileUrl = `${answer.form.fileUrl}?sig=token-of-the-address`
        return { kind: 'form', form: { ...answer.form, url, fileUrl } }
      },
    }),
  })
  return { h, secrets }
}

function everythingShown(h: Harness, results: unknown[]): string {
  return [JSON.stringify(results), JSON.stringify(h.attempts), h.logged()].join('\n')
}

const FAULTS: FaultRule[] = [
  { at: 'service', kind: 'answer', status: 500, body: `signature of ${SECRET} is wrong` },
  { at: 'service', kind: 'answer', status: 400, body: `key=${SECRET}` },
  { at: 'service', kind: 'signature-mismatch' },
  { at: 'service', kind: 'json', variant: 'truncated' },
  { at: 'service', kind: 'json', variant: 'no-url' },
  { at: 'service', kind: 'refuse', how: 'rst' },
  { at: 'storage', kind: 'refuse', how: 'rst' },
  { at: 'storage', kind: 'lose-answer', stored: true, how: 'silence' },
  { at: 'storage', kind: 's3-error', code: 'SignatureDoesNotMatch' },
  { at: 'storage', kind: 's3-error', code: 'InvalidAccessKeyId' },
  { at: 'storage', kind: 'redirect', status: 307, location: 'https://user:pw@example.com/?t=1' },
  { at: 'storage', kind: 'success', etag: 'wrong' },
  { at: 'storage', kind: 'raw', what: 'garbage' },
]

describe('nothing secret', () => {
  it.each(FAULTS.map((fault) => [`${fault.at} ${fault.kind}`, fault] as const))(
    'is shown after the fault "%s"',
    async (_, fault) => {
      const { h, secrets } = await withSecrets()
      h.sandbox.faults.add(fault)
      let result: unknown = null

      const delivered = h.deliver(FEED).then((ended) => {
        result = ended
      })
      // Each attempt meets the silence.
      if (fault.kind === 'lose-answer') await h.clock.passUntil(() => result !== null)
      await delivered
      const results = [result, h.gate.health()]

      const shown = everythingShown(h, results)
      expect([...secrets].filter((secret) => shown.includes(secret))).toEqual([])
      expect(shown).not.toMatch(/[A-Za-z0-9+/]{27}=/)
      expect(h.attempts.length).toBeGreaterThan(0)
    },
  )

  it('is shown when all goes well', async () => {
    const { h, secrets } = await withSecrets()

    const result = await h.deliver(FEED)

    const shown = everythingShown(h, [result])
    expect(result.kind).toBe('stored')
    expect([...secrets].filter((secret) => shown.includes(secret))).toEqual([])
  })

  it('is shown when storage repeats the fields of the form', async () => {
    const { h, secrets } = await withSecrets()
    const ofForm = async () => {
      await h.deliver(FEED)
      return [...secrets].filter((value) => value !== SECRET && value !== PROXY_PASSWORD)
    }
    const values = await ofForm()

    for (const value of values) {
      h.sandbox.faults.clear()
      h.sandbox.faults.add({ at: 'storage', kind: 'answer', status: 403, body: echo(value) })
      const result = await h.deliver(FEED)
      const shown = everythingShown(h, [result])
      // The same value comes back in the next form when it is a token or an id of the credentials.
      expect([...secrets].filter((secret) => shown.includes(secret))).toEqual([])
    }

    expect(values.length).toBeGreaterThan(4)
  })

  it('is shown of the proxy', async () => {
    const proxy = `http://user:${PROXY_PASSWORD}@127.0.0.1:1`
    const { h, secrets } = await withSecrets({ HTTP_PROXY: proxy })

    const result = await h.deliver(FEED)

    const shown = everythingShown(h, [result])
    expect(result.kind).toBe('later')
    expect([...secrets].filter((secret) => shown.includes(secret))).toEqual([])
  })
})

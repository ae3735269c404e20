import { createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { Sandbox, SandboxOptions } from '../../../src/sandbox/sandbox.ts'
import type { SandboxTargeting } from '../../../src/sandbox/service/body.ts'
import { type SandboxPosting, targetingTest } from '../../../src/sandbox/service/targeting.ts'
import { SECRET, send } from '../../helpers/sandbox/client.ts'
import { sandbox } from '../../helpers/sandbox/sandbox.ts'

async function call(box: Sandbox, method: string, path: string, json?: object) {
  const [route = '', query = ''] = path.split('?')
  const body = json === undefined ? '' : JSON.stringify(json)
  const date = new Date().toUTCString()
  const signature = createHmac('sha1', SECRET)
    .update(`${method}${route}?${query};${body};${date}`)
    .digest('base64')
  const headers = {
    ...{ 'X-SVC-Partner': 'acme', 'X-SVC-PartnerAccount': '42' },
    ...{ 'X-SVC-Date': date, 'X-SVC-Signature': signature },
  }
  const reply = await send(box.url + path, { method, headers, body })
  return { status: reply.status, json: JSON.parse(reply.body) }
}

const create = (box: Sandbox, json: object) => call(box, 'POST', '/v1/campaigns', json)
const open = (options: Partial<SandboxOptions> = {}) => sandbox(options)

describe('campaigns of the sandbox', () => {
  it('appear in the searches of their own account only', async () => {
    const box = await open()
    box.campaigns.create('42', { name: 'of the account' })
    box.campaigns.create('43', { name: 'of another account' })

    const { json } = await call(box, 'GET', '/v1/campaigns')

    expect(json).toMatchObject({ total: 1, campaigns: [{ name: 'of the account' }] })
  })

  it('are created even if the answer is lost', async () => {
    const box = await open()
    box.faults.add({ at: 'service', kind: 'commit-drop', how: 'rst', route: 'campaign-create' })

    await expect(create(box, { name: 'A' })).rejects.toThrow(/ECONNRESET|hang up/)

    expect(box.campaigns.all).toHaveLength(1)
  })
})

describe('targeting in the sandbox', () => {
  const posting: SandboxPosting = {
    id: '',
    ...{ externalCampaignId: 'N', requisitionId: 'R1', title: 'Registered Nurses, ICU' },
    ...{ description: 'Night SHIFT', city: 'Boston', state: 'MA', postalCode: '02139' },
  }
  const none: SandboxTargeting = {
    ...{ cities: [], externalCampaignId: null, requisitionIds: [], jobDescKeywords: [] },
    ...{ jobTitles: [], postalCodes: [], stateProvCodes: [] },
  }

  it.each([
    [{ jobTitles: ['nursing'] }, false],
    [{ jobTitles: ['registered nurse'] }, true],
    [{ cities: [{ name: 'boston', stateProvCode: 'MA' }] }, true],
    [{ cities: [{ name: 'Boston', stateProvCode: 'ON' }] }, false],
    [{ stateProvCodes: ['ON'], requisitionIds: ['R2'] }, false],
  ])('%o selects the posting: %s', (change, selects) => {
    expect(targetingTest({ ...none, ...change })(posting)).toBe(selects)
  })
})

// A partner that names no account of its own: each rule of feeds names one, and a path may be left without any.

import { expect, it } from 'vitest'
import { feedOf, finished, SECRET, Site } from '../helpers/site.ts'

const PARTNER = { account: undefined, partner: 'acme' }
const RULES = [{ match: '{1}/*.xml', partnerAccount: '{1}' }]

const partnerSite = (config: Record<string, unknown> = {}) =>
  Site.open(
    { service: PARTNER, feeds: RULES, ...config },
    { identity: { partner: 'acme', partnerAccounts: ['42'], secret: SECRET } },
  )

it('a feed without a partner account fails alone and says so; the others are uploaded', async () => {
  await using site = await partnerSite()
  site.drop('lost.xml', feedOf(1))
  site.drop('42/jobs.xml', feedOf(2))
  const daemon = site.spawn('run')
  const ran = finished(daemon)

  const lost = await site.until('lost.xml', 'failed')
  await site.until('42/jobs.xml', 'uploaded')
  daemon.kill('SIGTERM')

  expect(lost.reason).toBe('no partner account: no rule names one for lost.xml')
  expect((await ran).code).toBe(0)
  const asked = site.sandbox.requests().filter(({ route }) => route === 'presign')
  expect(asked.map(({ account }) => account)).toEqual(['42'])
  const shown = await site.run('show', String(lost.id))
  expect(shown.stdout).toContain('service.partnerAccount')
})

it.each([
  [['campaigns', 'search']],
  [['campaigns', 'get', '1']],
  [['campaigns', 'create', '--name', 'Cooks', '--all-postings']],
  [['campaigns', 'update', '1', '--budget', '5']],
  [['doctor']],
])('%j asks nothing, names the key to set, and ends with 78', async (command) => {
  await using site = await partnerSite()

  const { code, stdout, stderr } = await site.run(...command)

  expect(code).toBe(78)
  expect(stdout + stderr).toContain('set service.partnerAccount')
  expect(site.sandbox.requests()).toEqual([])
})

it('config check warns where a path may be left without a partner account', async () => {
  await using site = await partnerSite()

  const { stdout, stderr } = await site.run('config', 'check')

  expect(stdout + stderr).toMatch(/service\.partner: no partnerAccount for a file that no rule/)
})

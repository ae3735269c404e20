// Commands that root runs, while the daemon has its own user. These tests need root.

import { chmodSync, chownSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { feedOf } from '../../helpers/feed.ts'
import { finished, Site } from '../../helpers/site.ts'

/** The number of the user `nobody` on Debian. The test does not need that user to exist. */
const ACCOUNT = 65_534

const CAMPAIGNS = `version: 1
campaigns:
  - {externalCampaignId: A, name: A, budget: "100.00", period: monthly, targeting: all}
`

/** ownedSite opens a site whose state directory belongs to another user, as with the unit. */
async function ownedSite(): Promise<Site> {
  const site = await Site.open()
  const state = join(site.root, 'state')
  mkdirSync(state)
  chownSync(state, ACCOUNT, ACCOUNT)
  chmodSync(site.root, 0o755)
  return site
}

function ownersIn(site: Site): string[] {
  const state = join(site.root, 'state')
  return readdirSync(state, { recursive: true, encoding: 'utf8' }).map(
    (name) => `${name}: ${statSync(join(state, name)).uid}`,
  )
}

describe.skipIf(process.getuid?.() !== 0)('root', () => {
  it('uploads without a daemon, and all files belong to the owner of the state directory', async () => {
    await using site = await ownedSite()
    chmodSync(join(site.root, 'service.key'), 0o600)
    for (const [name, postings] of [
      ['small.xml', 3],
      ['large.xml', 3000],
    ] as const) {
      writeFileSync(join(site.root, name), feedOf(postings), { mode: 0o600 })
      const uploaded = await site.process('upload', join(site.root, name), '--feed', name, '--new')
      expect(uploaded).toMatchObject({ code: 0 })
    }

    const owners = ownersIn(site)

    expect(owners.length).toBeGreaterThan(4)
    expect(owners.filter((owner) => !owner.endsWith(`: ${ACCOUNT}`))).toEqual([])
  })

  it('runs discard before the first start, and all files belong to the owner of the state directory', async () => {
    await using site = await ownedSite()

    expect((await site.process('discard', '1')).stderr).toContain('there is no version 1')

    expect(new Set(ownersIn(site).map((owner) => owner.split(': ')[1]))).toEqual(
      new Set([`${ACCOUNT}`]),
    )
  })

  it('looks at the campaigns with a key that only root may read, and all files belong to the owner of the state directory', async () => {
    await using site = await ownedSite()
    chmodSync(join(site.root, 'service.key'), 0o600)
    writeFileSync(join(site.root, 'campaigns.yaml'), CAMPAIGNS)

    const { stderr } = await site.process('run', '--once')
    const { stdout } = await site.process('campaigns', 'status')

    expect(stderr).not.toContain('key file')
    expect(stdout).toContain('1 entry')
    expect(ownersIn(site).filter((owner) => !owner.endsWith(`: ${ACCOUNT}`))).toEqual([])
  })

  it('applies campaigns with a key that only root may read, and all files belong to the owner of the state directory', async () => {
    await using site = await ownedSite()
    chmodSync(join(site.root, 'service.key'), 0o600)
    writeFileSync(join(site.root, 'campaigns.yaml'), CAMPAIGNS)
    const { stdout } = await site.process('campaigns', 'plan')
    const [digest = ''] = /(?<=--plan )\w+/.exec(stdout) ?? []

    const applied = await site.process('campaigns', 'apply', '--plan', digest)

    expect(applied).toMatchObject({ code: 0, stderr: '' })
    expect(ownersIn(site).filter((owner) => !owner.endsWith(`: ${ACCOUNT}`))).toEqual([])
  })

  it('is suggested to another user, who may not open the history and gets exit code 75', async () => {
    await using site = await ownedSite()
    await site.process('run', '--once')
    chmodSync(join(site.root, 'state'), 0o750)
    const stranger = ['setpriv', `--reuid=${ACCOUNT - 1}`, '--regid=65533', '--clear-groups']

    const { code, stderr } = await finished(site.spawnBy(stranger, 'status'))

    expect(code).toBe(75)
    expect(stderr).toMatch(
      /^try: .+state must .+ belong to one user: run this as that user, or as root\.$/m,
    )
  })
})

// Refused credentials, with real daemons: all feeds wait without new attempts, and a new key is found automatically.

import { renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { eventually } from '../../helpers/eventually.ts'
import { quickClock } from '../../helpers/quick-clock.ts'
import { feedOf, SECRET, Site } from '../../helpers/site.ts'

function writeKey(site: Site, key: string): void {
  const path = join(site.root, 'service.key')
  writeFileSync(`${path}.new`, `${key}\n`, { mode: 0o600 })
  renameSync(`${path}.new`, path)
}

const presigns = (site: Site) => site.sandbox.requests().filter(({ side }) => side === 'service')

async function status(site: Site) {
  return JSON.parse((await site.run('status', '--json')).stdout)
}

/** refusedSite starts a daemon whose wrong key was refused for its first feed. */
async function refusedSite(config: Record<string, unknown> = {}) {
  const site = await Site.open(config, { clock: quickClock() })
  writeKey(site, 'a wrong key')
  const daemon = await site.daemon()
  site.drop('first.xml', feedOf(2))
  await eventually(() => expect(site.show(1).reason).toContain('refused the credentials'))
  return { site, daemon }
}

describe('refused credentials', () => {
  it('pause every feed without attempts, and name the key file but no key, until a good key is there', async () => {
    const { site, daemon } = await refusedSite({ upload: { concurrency: 1 } })
    await using _ = site

    for (const name of ['second.xml', 'third.xml']) site.drop(name, feedOf(3))
    await site.until('second.xml', 'queued')
    await site.until('third.xml', 'queued')
    // The daemon has listed the folder again, because it took both files.
    const paused = await status(site)
    const asked = presigns(site).length
    writeKey(site, SECRET)
    for (const name of ['first.xml', 'second.xml', 'third.xml']) await site.until(name, 'uploaded')

    expect(paused.service.state).toBe('credentials')
    const attempts = paused.uploads.map((upload: { attempts: number }) => upload.attempts)
    expect(attempts).toEqual([0, 0, 1])
    expect(asked).toBe(1)
    expect(daemon.output).toContain('service.key')
    expect(daemon.output).not.toContain('a wrong key')
    expect(site.sandbox.objects()).toHaveLength(3)
    expect(site.show(1).attempts.map(({ outcome }) => outcome)).toEqual(['refused', 'stored'])
    await eventually(async () => expect((await status(site)).service.state).toBe('ok'))
  })

  it('end with a good key, although the key file was empty for a moment', async () => {
    const { site, daemon } = await refusedSite()
    await using _ = site

    writeFileSync(join(site.root, 'service.key'), '')
    await eventually(() => expect(daemon.output).toContain('is empty'))
    writeKey(site, SECRET)

    await site.until('first.xml', 'uploaded')
    expect(daemon.exitCode).toBeNull()
  })

  it('of one account delay no other and are in status; a retry makes one attempt and exits with 75', async () => {
    const rules = [{ match: '{1}/*.xml', name: '{1}', partnerAccount: '{1}' }]
    const service = { partner: 'acme', account: undefined }
    await using site = await Site.open(
      { feeds: rules, upload: { concurrency: 1 }, service },
      {
        clock: quickClock(),
        callers: [{ partner: 'acme', partnerAccounts: ['42', '43'], secret: SECRET }],
      },
    )
    const daemon = await site.daemon()
    site.drop('42/jobs.xml', feedOf(2))
    await site.until('42', 'uploaded')

    site.drop('4e/jobs.xml', feedOf(2))
    const refused = () => site.uploads({ feed: '4e' })[0]
    await eventually(() => expect(refused()?.reason).toContain('account "4e" with 403'))
    site.drop('43/jobs.xml', feedOf(2))
    await site.until('43', 'uploaded')
    const look = async () => {
      const { service: shown } = await status(site)
      expect(shown).toMatchObject({ state: 'degraded' })
      expect((await site.run('status')).stdout).toContain('4e')
    }
    await eventually(look)

    const { code } = await site.run('retry', String(refused()?.id))
    await eventually(() => expect(refused()?.attempts).toBe(2))
    expect(code).toBe(75)
    expect(daemon.exitCode).toBeNull()
  })

  it('end `run --once` with their own exit code', async () => {
    await using site = await Site.open()
    writeKey(site, 'a wrong key')
    site.drop('jobs.xml', feedOf(2))

    const { code } = await site.run('run', '--once')

    expect(code).toBe(4)
  })
})

describe('a daemon whose key is refused and replaced by an unusable one', () => {
  it.each([
    ['is empty', (file: string) => writeFileSync(file, '')],
    ['cannot be followed (ELOOP)', linkToItself],
  ])(
    'says that the file %s, also as a condition, continues with the current key, and takes the next one',
    async (problem, spoil) => {
      await using site = await Site.open({}, { clock: quickClock() })
      const refusal = site.sandbox.faults.add({ at: 'service', kind: 'signature-mismatch' })
      const daemon = await site.daemon()
      const conditions = async () => JSON.stringify((await status(site)).daemon.conditions)
      site.drop('jobs.xml', feedOf(2))
      await site.logged(daemon, 'credentials refused')

      spoil(join(site.root, 'service.key'))
      await eventually(() => expect(daemon.output).toContain(problem))
      refusal.remove()
      await site.run('retry', '--all')
      await site.until('jobs.xml', 'uploaded')
      await eventually(async () => expect(await conditions()).toContain('key-unreadable'))
      writeKey(site, SECRET)

      await eventually(async () => expect(await conditions()).toBe('[]'))
      expect(daemon.exitCode).toBeNull()
    },
  )
})

function linkToItself(file: string): void {
  rmSync(file)
  symlinkSync(file, file)
}

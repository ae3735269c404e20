import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type DropinFacts, unitDropin } from '../../../src/ops/systemd/unit-dropin.ts'
import { Site } from '../../helpers/site.ts'

const UNIT = join(import.meta.dirname, '../../../systemd/feedsyncd.service')

function dropin(over: Partial<DropinFacts> = {}): string[] {
  const facts: DropinFacts = {
    ...{ inbox: '/srv/ats/export', writesInbox: false, targets: [], group: null },
    ...{ state: '/var/lib/feedsyncd', socket: null, ...over },
  }
  return unitDropin(facts)
    .split('\n')
    .filter((line) => /^[A-Z]/.test(line))
}

describe('the drop-in', () => {
  it('is no more than a mount to wait for where the packaged unit is right', () => {
    expect(dropin()).toEqual(['RequiresMountsFor=/srv/ats/export'])
    expect(dropin({ state: '/var/lib/feedsyncd/state', socket: '/run/feedsyncd/http' })).toEqual([
      'RequiresMountsFor=/srv/ats/export',
    ])
  })

  it('joins the group that owns the folder', () => {
    expect(dropin({ group: 'ats' })).toContain('SupplementaryGroups=ats')
  })

  it('shows a folder under /home and hides the rest, to be read only unless it is written to', () => {
    expect(dropin({ inbox: '/home/ats/export' })).toEqual([
      'RequiresMountsFor=/home/ats/export',
      'ProtectHome=tmpfs',
      'BindReadOnlyPaths=/home/ats/export',
    ])
    expect(dropin({ inbox: '/home/ats/export', writesInbox: true })).toContain(
      'BindPaths=/home/ats/export',
    )
  })

  it('opens what is written to, and nothing else', () => {
    const lines = dropin({
      ...{ writesInbox: true, targets: ['/srv/ats/archive'], state: '/data/feedsyncd' },
      socket: '/run/monitoring/feedsyncd.sock',
    })

    expect(lines.at(-1)).toBe(
      'ReadWritePaths=-/srv/ats/export -/srv/ats/archive -/data/feedsyncd -/run/monitoring',
    )
  })

  it('gives up the private /tmp for a folder in it', () => {
    expect(dropin({ inbox: '/var/tmp/feeds' })).toContain('PrivateTmp=no')
  })

  it('writes odd paths as systemd reads them', () => {
    const [mounts] = dropin({ inbox: '/srv/a b"c\\d/100%' })
    const lines = dropin({ inbox: '/home/a:b c' })

    expect(mounts).toBe('RequiresMountsFor="/srv/a b\\"c\\\\d/100%%"')
    expect(lines.at(-1)).toBe('BindReadOnlyPaths="/home/a\\\\:b c"')
  })
})

it('service print writes it for the configured folders', async () => {
  await using site = await Site.open({ inbox: { directory: '/home/ats/export', receipts: true } })

  const { code, stdout } = await site.run('service', 'print')

  expect(code).toBe(0)
  expect(stdout).toContain('BindPaths=/home/ats/export\n')
  expect(stdout).toContain(`ReadWritePaths=-${join(site.root, 'state')}\n`)
})

if (spawnSync('systemd-analyze', ['--version']).status === 0) {
  it('together with the unit has nothing that systemd would ignore', () => {
    const folder = mkdtempSync(join(tmpdir(), 'unit-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const unit = readFileSync(UNIT, 'utf8').replace(/^(Exec\w+=)\S+/gm, '$1/bin/true')
    const text = unitDropin({
      ...{ inbox: '/home/ats/a b:c', writesInbox: true, targets: ['/srv/x"y', '/srv/50%'] },
      ...{ state: '/data', socket: '/run/x/s', group: 'ats' },
    })
    const file = join(folder, 'feedsyncd.service')
    writeFileSync(file, `${unit}\n${text}\n`)

    const { stderr, stdout } = spawnSync('systemd-analyze', ['verify', file], { encoding: 'utf8' })

    expect(stdout + stderr).toBe('')
  })
}

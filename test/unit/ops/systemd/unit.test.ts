import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { accountOf, hiddenBy, mayWrite, parseUnit } from '../../../../src/ops/systemd/unit.ts'

const PACKAGED = readFileSync(
  join(import.meta.dirname, '..', '..', '..', '..', 'systemd', 'feedsyncd.service'),
  'utf8',
)

describe('the unit as doctor reads it', () => {
  it('is the packaged one: who runs it, what it is handed, and where it may write', () => {
    const unit = parseUnit(PACKAGED)

    expect([unit.user, unit.groups]).toEqual(['feedsyncd', ['feedsyncd']])
    expect(unit.keySource).toBe('/etc/feedsyncd/service.key')
    expect(mayWrite(unit, '/var/lib/feedsyncd/archive')).toBe(true)
    expect(mayWrite(unit, '/etc/feedsyncd/archive')).toBe(false)
    expect(hiddenBy(unit, '/home/ats/export')).toBe('ProtectHome=')
    expect(hiddenBy(unit, '/srv/ats/export')).toBeNull()
  })

  it('takes drop-ins after it: lists add up, and an empty value begins anew', () => {
    const unit = parseUnit(
      `${PACKAGED}\n[Service]\nReadWritePaths=-/srv/a "/srv/with space"\nReadWritePaths=/srv/b\n` +
        'BindPaths=/home/ats/export\nSupplementaryGroups=ats\nSupplementaryGroups=\nSupplementaryGroups=sftp\nUser=ats\n',
    )

    expect([unit.user, unit.groups]).toEqual(['ats', ['feedsyncd', 'sftp']])
    const folders = ['/srv/a/x', '/srv/with space', '/srv/b', '/home/ats/export']
    expect(folders.map((folder) => mayWrite(unit, folder))).toEqual([true, true, true, true])
    expect(hiddenBy(unit, '/home/ats/export')).toBeNull()
    expect(hiddenBy(unit, '/home/ats')).toBe('ProtectHome=')
  })

  it('has an account of this host, with the groups that it adds', () => {
    const unit = parseUnit('User=root\nSupplementaryGroups=daemon')

    expect(accountOf(unit)).toMatchObject({ name: 'root', uid: 0 })
    expect(accountOf(unit)?.gids).toContain(1)
    expect(accountOf(parseUnit('User=no-such-user'))).toBeNull()
  })
})

import { execFileSync } from 'node:child_process'
import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:http'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { ALERT_EVENTS } from '../../../src/domain/alerts.ts'
import { MINUTE } from '../../../src/lib/clock.ts'
import type { AlertMessage } from '../../../src/ops/alerts/message.ts'
import { eventually } from '../../helpers/eventually.ts'
import { statusOf } from '../../helpers/look.ts'
import { quickClock } from '../../helpers/quick-clock.ts'
import { feedOf, SECRET, Site } from '../../helpers/site.ts'

const BROKEN = '<source><job></source>'
const ALL = ALERT_EVENTS

/** An operator's program that adds each message to a file. */
function pager(file: string): object {
  const script = "process.stdin.pipe(require('fs').createWriteStream(process.argv[1], {flags:'a'}))"
  return { on: ALL, exec: [process.execPath, '-e', script, file] }
}

function paged(file: string): AlertMessage[] {
  if (!existsSync(file)) return []
  const lines = readFileSync(file, 'utf8').trim().split('\n')
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line))
}

async function siteWithPager(clock = quickClock()): Promise<{ site: Site; file: string }> {
  const site = await Site.open({}, { clock })
  const file = join(site.root, 'paged')
  site.configure({ alerts: [pager(file)] })
  return { site, file }
}

/** Waits until the changes of all messages are these. A message may have several changes. */
function untilPaged(file: string, events: string[]): Promise<void> {
  const told = () => paged(file).flatMap(({ changes }) => changes)
  return eventually(() =>
    expect(told().map((one) => (one.recovered ? 'recovered' : one.event))).toEqual(events),
  )
}

describe('the daemon', () => {
  it('reports a rejected feed once, with reason and next step, and its recovery once, even over a restart', async () => {
    const { site, file } = await siteWithPager()
    await using _ = site
    const first = await site.daemon()
    site.drop('a.xml', BROKEN)
    await untilPaged(file, ['rejected'])
    await first.stop()

    await site.daemon()
    site.drop('a.xml', feedOf(3))
    await untilPaged(file, ['rejected', 'recovered'])

    expect(paged(file)[0]?.text).toMatch(
      /: a\.xml rejected: line 1, column 14: .+; correct the export/,
    )
  })

  it('reports all held further feeds of an account as one problem with its commands, and once that none is held', async () => {
    const { site, file } = await siteWithPager()
    await using _ = site
    site.configure({ alerts: [pager(file)], guards: { secondFeed: 'hold' } })
    await site.daemon()
    site.drop('jobs.xml', feedOf(120))
    await site.until('jobs.xml', 'uploaded')
    const ids: number[] = []
    for (const name of ['nurses.xml', 'cooks.xml', 'drivers.xml']) {
      site.drop(name, feedOf(3))
      ids.push((await site.until(name, 'held')).id)
    }
    const { problems } = statusOf(site)
    const [oldest] = ids
    await untilPaged(file, ['held'])
    const ran = await site.run('release', String(oldest), '--account-keeps-all')
    await untilPaged(file, ['held', 'recovered'])

    expect(problems).toMatchObject([
      {
        code: 'second-feed',
        subject: { kind: 'account', account: null },
        says: 'held: nurses.xml, cooks.xml, drivers.xml: account 123 already has jobs.xml (120 postings), and the service might keep only the last file of an account',
      },
    ])
    expect(problems[0]?.next.flatMap((step) => ('command' in step ? step.command : []))).toEqual(
      [`show ${oldest}`, `release ${oldest} --account-keeps-all`, `discard ${ids.join(' ')}`].map(
        (command) => `feedsyncd ${command} --config ${site.configFile}`,
      ),
    )
    expect(ran.code).toBe(0)
    expect(paged(file).at(-1)?.text).toContain('no further feed of the account is held')
  })

  it('reports a deleted database before it ends, because systemd does not start it again', async () => {
    const { site, file } = await siteWithPager()
    await using _ = site
    const { ended } = await site.daemon()

    rmSync(join(site.root, 'state', 'feedsyncd.db'))

    expect((await ended).code).toBe(78)
    expect(paged(file)).toMatchObject([
      { event: 'daemon', changes: [{ reasonCode: 'database-lost' }] },
    ])
  })

  it('reports a deleted database log, and that it works again', async () => {
    const clock = quickClock()
    const { site, file } = await siteWithPager(clock)
    await using _ = site
    const { ended } = await site.daemon()
    rmSync(join(site.root, 'state', 'feedsyncd.db-wal'))
    expect((await ended).code).toBe(78)

    await site.daemon()
    // A condition that the daemon does not meet within a minute after its start is over.
    clock.skip(MINUTE)
    await untilPaged(file, ['daemon', 'recovered'])

    expect(paged(file).at(-1)?.text).toMatch(/: feedsyncd works again$/)
  })

  it('reports refused credentials once, and in the same fields their recovery when they work', async () => {
    const { site, file } = await siteWithPager()
    await using _ = site
    const key = join(site.root, 'service.key')
    appendFileSync(key, 'wrong')
    const daemon = await site.daemon()
    site.drop('a.xml', feedOf(3))
    await untilPaged(file, ['credentials'])

    await site.run('retry', '--all')
    await site.logged(daemon, 'credentials refused', 2)
    writeFileSync(key, `${SECRET}\n`)

    await untilPaged(file, ['credentials', 'recovered'])
    const [refused, recovered] = paged(file).map(({ changes }) => Object.keys(changes[0] ?? {}))
    expect(refused).toEqual(recovered)
  })

  it('reports to people and monitoring that a broken file stops the campaigns, and what the corrected file waits for', async () => {
    const { site, file } = await siteWithPager()
    await using _ = site
    const campaigns = (text: string) => writeFileSync(join(site.root, 'campaigns.yaml'), text)
    campaigns('version: 1\n')
    await site.daemon()
    await untilPaged(file, ['campaigns-stopped'])
    const broken = await site.run('status', '--check')

    campaigns('version: 1\ncampaigns:\n  - { externalCampaignId: A, name: A, budget: "5.00" }\n')
    await untilPaged(file, ['campaigns-stopped', 'campaign-waiting', 'recovered'])
    const blocked = await site.run('status', '--check')

    expect(broken.code).toBe(1)
    expect(broken.stdout).toMatch(/^WARNING - no campaign is written: .*campaigns\.yaml:1:1 /)
    expect(blocked.code).toBe(1)
    expect(blocked.stdout).toMatch(
      /^WARNING - campaign A blocked: .* not created without targeting/,
    )
  })

  it('does not count stopped campaigns as a problem of a single feed', async () => {
    await using site = await Site.open()
    writeFileSync(join(site.root, 'campaigns.yaml'), 'version: 1\n')
    await site.daemon()
    site.drop('jobs.xml', feedOf(1))
    await site.until('jobs.xml', 'uploaded')
    const codesOf = () => statusOf(site).problems.map(({ code }) => code)
    await eventually(() => expect(codesOf()).toEqual(['campaigns-unusable']))

    expect((await site.run('status', 'jobs.xml', '--check')).code).toBe(0)
  })

  it('delivers feeds even if no alert can be sent, and logs each such alert', async () => {
    await using site = await Site.open({ alerts: [{ on: ALL, exec: ['/nonexistent/program'] }] })
    site.drop('a.xml', BROKEN)
    site.drop('b.xml', feedOf(3))

    const { code, stdout } = await site.run('run', '--once')

    expect(code).toBe(3)
    expect(site.sandbox.objects()).toHaveLength(1)
    expect(stdout).toContain('alert not sent')
  })
})

it('a single pass sends its alerts before it ends, and the next pass does not repeat them', async () => {
  const { site, file } = await siteWithPager()
  await using _ = site
  site.drop('a.xml', BROKEN)

  await site.run('run', '--once')
  await site.run('run', '--once')

  expect(paged(file).map(({ event }) => event)).toEqual(['rejected'])
})

describe('alerts test', () => {
  it('tries every receiver, prints each result without an address, and exits with 1 if one failed', async () => {
    const heard: string[] = []
    const server = createServer((request, response) => {
      heard.push(request.url ?? '')
      response.end()
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook-token`
    await using site = await Site.open({
      alerts: [
        { on: ['held'], webhook: url },
        { on: ['failed'], exec: ['/bin/false'] },
      ],
    })

    const { code, stdout } = await site.run('alerts', 'test')

    expect(code).toBe(1)
    expect(heard).toEqual(['/hook-token'])
    expect(stdout.split('\n')).toEqual([
      `${new URL(url).origin} (held): sent`,
      '/bin/false (failed): not sent: it ended with 1',
      '',
    ])
  })

  it('says what to configure when there is no receiver; exit 78', async () => {
    await using site = await Site.open()

    const { code, stderr } = await site.run('alerts', 'test')

    expect(code).toBe(78)
    expect(stderr).toMatch(/^error: .+ no alert receiver\ntry: add one under "alerts:"/)
  })
})

it('the mail recipe of the example configuration mails an alert', async () => {
  await using site = await Site.open()
  const mails: string[] = []
  const server = createTcpServer((socket) => {
    let mail = ''
    let isBody = false
    socket.write('220 mail\r\n')
    socket.on('data', (data) => {
      mail += data
      if (isBody && !mail.endsWith('\r\n.\r\n')) return
      isBody = /^DATA\r\n/m.test(String(data))
      socket.write(isBody ? '354 go on\r\n' : '250 well\r\n')
    })
    socket.on('close', () => mails.push(mail))
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  const exec = [
    '/bin/sh',
    resolve('config/alert-mail.sh'),
    'ops@example.com',
    `smtp://127.0.0.1:${port}`,
  ]
  site.configure({ alerts: [{ on: ['held'], exec }] })

  const { code, stderr } = await site.run('alerts', 'test')

  expect([code, stderr]).toEqual([0, ''])
  expect(mails[0]).toMatch(/^Subject: feedsyncd on .+: test\r\n/m)
  expect(mails[0]).toMatch(/^Date: \w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d [-+]\d{4}\r\n/m)
  const [, text = ''] = mails[0]?.split('\r\n\r\n') ?? []
  expect(Buffer.from(text, 'base64').toString()).toContain('this is a test; alerts arrive here')
})

it('the mail recipe has no line that is longer than mail allows, and keeps each character of a feed’s name', () => {
  const folder = mkdtempSync(join(tmpdir(), 'feedsyncd-mail-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const mail = join(folder, 'mail')
  writeFileSync(join(folder, 'curl'), `#!/bin/sh\ncat > ${mail}\n`, { mode: 0o755 })
  const text = `${'é'.repeat(1000)}\n.\nR&D <!channel>`

  execFileSync('/bin/sh', ['config/alert-mail.sh', 'ops@example.com'], {
    env: {
      PATH: `${folder}:${process.env.PATH}`,
      FEEDSYNCD_ALERT_ID: 'id',
      FEEDSYNCD_ALERT_SUBJECT: 'feedsyncd on ats: 1 held',
      FEEDSYNCD_ALERT_TEXT: text,
    },
  })

  const sent = readFileSync(mail, 'utf8')
  const [, body = ''] = sent.split('\r\n\r\n')
  expect(Math.max(...sent.split('\r\n').map((line) => Buffer.byteLength(line)))).toBeLessThan(100)
  expect(Buffer.from(body, 'base64').toString()).toBe(`${text}\n`)
})

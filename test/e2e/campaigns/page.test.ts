import { hash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { quickClock } from '../../helpers/quick-clock.ts'
import { Site } from '../../helpers/site.ts'

const PAGE = join(import.meta.dirname, '..', '..', '..', 'docs', 'campaigns.md')

/** feed returns 149 postings: 57 nurses in two states, 23 drivers, 9 welders, and 60 cooks without a campaign. */
function feed(): string {
  const job = (id: string, title: string, city: string, state: string, count: number) =>
    Array.from({ length: count }, () => ({ id, title, city, state }))
  const jobs = [
    ...job('NUR-Q1', 'Nurse', 'Boston', 'MA', 40),
    ...job('NUR-Q1', 'Nurse', 'Providence', 'RI', 17),
    ...job('DRV', 'Driver', 'Austin', 'TX', 23),
    ...job('WELD-2', 'Welder', 'Austin', 'TX', 9),
    ...job('', 'Cook', 'Austin', 'TX', 60),
  ]
  const text = jobs.map(
    ({ id, title, city, state }, n) =>
      `<job><referencenumber>J-${n + 1}</referencenumber><title>${title}</title><city>${city}</city>` +
      `<state>${state}</state><campaignid>${id}</campaignid>` +
      `<requisitionid>R-${1001 + n}</requisitionid></job>\n`,
  )
  return `<source>\n${text.join('')}</source>\n`
}

/** steady replaces what differs from run to run: times, paths, marks and log lines. */
function steady(text: string, root: string): string {
  return (
    text
      .replaceAll(root, '/etc/feedsyncd')
      // At the default place the option is not needed.
      .replaceAll(' --config /etc/feedsyncd/feedsyncd.yaml', '')
      .replace(/^\{.*\n/gm, '')
      .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, '2026-11-21T06:00:00.000Z')
      .replace(/\[#[0-9a-z]{10}\]/g, '[#k7m2q9x4c1]')
      .replace(/\(asked [^)]*\)/g, '(asked 2s ago)')
      .replace(/looked at (just now|[\dhms. ]+ ago)/g, 'looked at 2s ago')
      .replace(/\((just now|[\dhms. ]+ ago)\)$/gm, '(just now)')
      .replace(/\S+: campaigns /g, 'maria: campaigns ')
      // The name of the user who runs the test decides the width of this column.
      .replace(/^(at|\d{4}-).*$/gm, (line) => line.replace(/ {2,}/g, '  '))
      .trimEnd()
  )
}

/** Digests replaces the digests, which depend on the sandbox's address, by fixed ones in the order of the page. */
class Digests {
  readonly #real: string[] = []
  readonly #shown = (n: number) => hash('sha256', `plan ${n}`).slice(0, 8)

  /** named replaces DIGEST-1, which an author may write for the first digest, and so on. */
  named(page: string): string {
    return page.replace(/DIGEST-(\d+)/g, (_, n) => this.#shown(Number(n)))
  }

  show(text: string): string {
    return text.replace(/(?<=--plan )[0-9a-f]{8}\b/g, (real) => {
      if (!this.#real.includes(real)) this.#real.push(real)
      return this.#shown(this.#real.indexOf(real) + 1)
    })
  }

  /** real returns a command of the page with the digests of this run. */
  real(command: string): string {
    return this.#real.reduce((text, real, n) => text.replace(this.#shown(n + 1), real), command)
  }
}

it('docs/campaigns.md shows what its commands print', async () => {
  // Dates and days of the page stay the same on each day.
  const ahead = Date.UTC(2036, 11, 10, 9) - Date.now()
  await using site = await Site.open({}, { clock: quickClock({ ahead }) })
  site.drop('jobs.xml', feed())
  expect((await site.run('run', '--once')).code).toBe(0)
  const page = readFileSync(PAGE, 'utf8')
  const digests = new Digests()
  let written = ''
  let rest = digests.named(page)
  for (;;) {
    const block = /^```(yaml|console)\n([\s\S]*?)^```$/m.exec(rest)
    if (block === null) break
    const [all, kind, content = ''] = block
    const before = rest.slice(0, block.index)
    rest = rest.slice(block.index + all.length)
    if (kind === 'yaml') {
      writeFileSync(join(site.root, 'campaigns.yaml'), content)
      written += before + all
      continue
    }
    const commands = content.split('\n').filter((line) => /^\$ feedsyncd /.test(line))
    const shown: string[] = []
    for (const command of commands) {
      if (/ campaigns status$/.test(command)) {
        // The page says that a week has passed since the last command.
        const { campaigns } = site.sandbox
        for (const one of campaigns.all)
          campaigns.setOutcome(one, { spend: one.id === '48001' ? 320.1 : 735 })
        await site.run('run', '--once')
      }
      const { stdout, stderr } = await site.run(...digests.real(command).split(' ').slice(2))
      const printed = digests.show(steady(`${stdout}${stderr}`, site.root))
      shown.push(printed === '' ? command : `${command}\n${printed}`)
    }
    written += `${before}\`\`\`console\n${shown.join('\n')}\n\`\`\``
  }
  written += rest
  // FEEDSYNCD_WRITE_DOCS=1 updates the page.
  if (process.env.FEEDSYNCD_WRITE_DOCS) writeFileSync(PAGE, written)
  expect(page).toBe(written)
})

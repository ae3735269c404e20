import { describe, expect, it } from 'vitest'
import { ALERT_EVENTS } from '../../../src/domain/alerts.ts'
import { CONDITION_CODES } from '../../../src/domain/conditions.ts'
import { STATES } from '../../../src/domain/states.ts'
import { commandTable } from '../../../systemd/package/command-table.ts'
import { blocks, RUNBOOK } from '../../helpers/runbook.ts'

/** rows returns the words in the first column of the tables below a heading. */
function rows(heading: string): string[] {
  const section = RUNBOOK.slice(RUNBOOK.indexOf(`## ${heading}\n`)).split(/^##+ /m)[1] ?? ''
  const columns = [...section.matchAll(/^\| (.*?) \|/gm)].map((row) => row[1] ?? '')
  return columns.flatMap((column) =>
    [...column.matchAll(/`([^`]+)`/g)].map((word) => word[1] ?? ''),
  )
}

describe('the runbook', () => {
  it('says of every state of a feed what to do', () => {
    expect(rows('By state').sort()).toEqual([...STATES].sort())
  })

  it('says of every state of the service what to do', () => {
    const states = ['ok', 'degraded', 'down', 'credentials', 'unknown']

    expect(rows('By the state of the service').sort()).toEqual(states.sort())
  })

  it('says of every alert where to go', () => {
    expect(rows('Read an alert').sort()).toEqual([...ALERT_EVENTS].sort())
  })

  it('says of every condition of the daemon what to do', () => {
    expect(rows('Conditions').sort()).toEqual([...CONDITION_CODES].sort())
  })

  it('links only to headings that exist', () => {
    const headings = [...RUNBOOK.matchAll(/^#+ (.*)$/gm)].map(([, text = '']) =>
      text
        .toLowerCase()
        .replace(/[^\w -]/g, '')
        .replaceAll(' ', '-'),
    )
    const links = [...RUNBOOK.matchAll(/\]\(#([^)]+)\)/g)].map((found) => found[1] ?? '')

    expect(links.length).toBeGreaterThan(0)
    expect(links.filter((link) => !headings.includes(link))).toEqual([])
  })

  // fresh-host.test.ts runs these commands on a fresh Debian.
  it('names only commands and options that exist', () => {
    const commands = blocks().flatMap((block) => block.commands)
    const own = commands.filter((command) => command.startsWith('feedsyncd '))
    const wrong = own.filter((command) => {
      const words = command
        .replace(/ [>|].*$/s, '')
        .split(' ')
        .slice(1)
      let at = commandTable.program()
      for (const word of words) at = at.commands.find((one) => one.name() === word) ?? at
      const options = words.filter((word) => word.startsWith('--'))
      const known = [...at.options, ...commandTable.program().options].map(({ long }) => long)
      return (
        options.some((option) => !known.includes(option)) ||
        (at.parent === null && !options.includes('--version'))
      )
    })

    expect(own.length).toBeGreaterThan(20)
    expect(wrong).toEqual([])
  })
})

// feedsyncd doctor checks everything that the daemon needs and prints the fix for each problem.

import type { Command } from 'commander'
import type { DoctorFinding } from '../app/doctor.ts'
import { findConfig } from '../config/load.ts'
import { isoTime } from '../lib/clock.ts'
import { EXIT } from '../lib/errors.ts'
import { printable } from '../lib/printable.ts'
import { relativeTime } from '../lib/units.ts'
import { hintText } from '../ops/advice.ts'
import type { CommandLine } from '../ops/port.ts'
import { type Context, outJson } from '../terminal/context.ts'
import { define } from '../terminal/define.ts'
import { type Display, fitted, styled, widthOf } from '../terminal/render.ts'

const TEXT =
  'check everything that the daemon needs; exit 0 ok, 78 configuration, 4 credentials, 1 host, 75 network'
const VERDICT_COLUMNS = 9
const COLOUR = { ok: 'green', warning: 'yellow', problem: 'red', skipped: 'gray' } as const

export function doctorCommand(context: Context): Command {
  return define<{ offline?: boolean }>(context, 'doctor', TEXT, async (call) => {
    const { commandLine, config, options } = call
    const { diagnose } = await import('../app/doctor.ts')
    const findings: DoctorFinding[] = []
    const { clock, env } = context
    const configFile = findConfig(options.config, env)
    const { offline = false } = options
    const checks = diagnose(config, { clock, commandLine, configFile, env, offline })
    for await (const finding of checks) {
      if (!options.json) {
        const previous = findings.at(-1)
        if (previous && previous.by !== finding.by) context.out('')
        if (previous?.by !== finding.by) context.out(heading(finding, clock.now()))
        context.out(fitted(findingText(finding, context, commandLine), widthOf(context)))
      }
      findings.push(finding)
    }
    const exitCode = exitCodeOf(findings)
    const shown = findings.map(({ exitCode: _, at, ...finding }) => ({
      ...finding,
      at: isoTime(at),
    }))
    if (options.json) outJson(context, { ok: exitCode === 0, findings: shown })
    context.exit(exitCode)
  }).option('--offline', 'send no requests to the service')
}

/** exitCodeOf returns the code of the worst problem: one that an operator must fix is worse than one that can pass. */
function exitCodeOf(findings: readonly DoctorFinding[]): number {
  const found = findings.filter(({ verdict }) => verdict === 'problem')
  const order = [EXIT.config, EXIT.credentials, EXIT.failed, EXIT.temporary]
  return order.find((code) => found.some(({ exitCode }) => exitCode === code)) ?? EXIT.ok
}

/** heading says who found the following findings, as which user, and when. */
function heading({ at, by, user }: DoctorFinding, now: number): string {
  const name = printable(user)
  return by === 'command'
    ? `this command, as ${name}:`
    : `the daemon, as ${name}, ${relativeTime(isoTime(at), now)}:`
}

function findingText(
  { check, verdict, says, fix }: DoctorFinding,
  display: Display,
  commandLine: CommandLine,
): string {
  const word =
    styled(COLOUR[verdict], verdict, display) + ' '.repeat(VERDICT_COLUMNS - verdict.length)
  const line = `${word}${check}: ${printable(says)}`
  const indent = ' '.repeat(VERDICT_COLUMNS)
  return fix === null ? line : `${line}\n${indent}try: ${printable(hintText(fix, commandLine))}`
}

// The command table, and how any command ends: its answer, or two lines and an exit code.

import { Command, CommanderError } from 'commander'
import { FeedsyncError, messageOf } from '../lib/errors.ts'
import { VERSION } from '../lib/version.ts'
import { alertsCommand } from './alerts.ts'
import { campaignsCommand } from './campaigns.ts'
import { checkCommand } from './check.ts'
import { completionCommand } from './completion.ts'
import { configCommand } from './config.ts'
import { ConfigProblems, type Context, tellError } from './context.ts'
import { decisionCommands } from './decide.ts'
import { demoCommand } from './demo.ts'
import { doctorCommand } from './doctor.ts'
import { EXIT } from './exit-codes.ts'
import { explainCommand } from './explain.ts'
import { runCommand } from './run.ts'
import { sandboxCommand } from './sandbox.ts'
import { serviceCommand } from './service.ts'
import { showCommand } from './show.ts'
import { statusCommand } from './status.ts'
import { uploadCommand } from './upload.ts'

const EXIT_CODES = `
Exit codes: 0 ok, 1 failed, 2 changes pending, 3 not all ok, 4 credentials, 64 usage,
75 temporary, 78 configuration, 130/143 ended by a signal. Any other code is a failure.`

export function buildProgram(context: Context): Command {
  const program = new Command('feedsyncd')
    .description('Watches a folder for XML job feeds, proves them complete, and delivers them.')
    .version(VERSION, '--version', 'print the version')
    .option(
      '--config <file>',
      'the configuration (else FEEDSYNCD_CONFIG, else /etc/feedsyncd/feedsyncd.yaml)',
    )
    .addHelpText('after', EXIT_CODES)
    .showSuggestionAfterError()
  const commands = [
    runCommand(context),
    statusCommand(context),
    showCommand(context),
    explainCommand(context),
    checkCommand(context),
    uploadCommand(context),
    ...decisionCommands(context),
    campaignsCommand(context),
    doctorCommand(context),
    configCommand(context),
    alertsCommand(context),
    serviceCommand(context),
    completionCommand(context),
    sandboxCommand(context),
    demoCommand(context),
  ]
  for (const command of commands) program.addCommand(command)
  for (const command of [
    program,
    ...commands,
    ...commands.flatMap(({ commands: inner }) => inner),
  ]) {
    command.exitOverride().configureOutput({
      writeOut: (text) => context.out(text.trimEnd()),
      writeErr: () => {},
    })
  }
  return program
}

/** Runs one command line (without the program's own name). Never throws. */
export async function runCli(args: readonly string[], context: Context): Promise<void> {
  const program = buildProgram(context)
  const meant = commandOf(program, args)
  try {
    await program.parseAsync([...args], { from: 'user' })
  } catch (error) {
    if (error instanceof CommanderError && error.code === 'commander.help') {
      context.err(meant.helpInformation())
      context.exit(EXIT.usage)
    } else {
      context.exit(report(context, error, meant))
    }
  }
}

/** The innermost command that the words name. */
function commandOf(program: Command, args: readonly string[]): Command {
  let found = program
  for (const word of args) found = found.commands.find((one) => one.name() === word) ?? found
  return found
}

function wordsOf(command: Command): string {
  return command.parent === null ? command.name() : `${wordsOf(command.parent)} ${command.name()}`
}

function report(context: Context, error: unknown, meant: Command): number {
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return EXIT.ok
    const message = error.message.replace(/^error: /, '').replace(/\n/g, ' ')
    tellError(context, message, `${wordsOf(meant)} --help`)
    return EXIT.usage
  }
  if (error instanceof ConfigProblems) {
    for (const line of error.lines) context.err(line)
    return error.exitCode
  }
  if (error instanceof FeedsyncError) {
    tellError(context, error.message, error.hint)
    return error.exitCode
  }
  const where = error instanceof Error ? error.stack : undefined
  tellError(context, `unexpected: ${messageOf(error)}`, 'report this with the lines below')
  if (where !== undefined) context.err(where)
  return EXIT.failed
}

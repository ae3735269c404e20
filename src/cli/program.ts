// The command table. Each command ends with an answer, or with two lines of error and an exit code.

import { Command, CommanderError } from 'commander'
import { campaignsCommand } from '../campaigns/for-cli.ts'
import { ConfigProblems } from '../config/problems.ts'
import { EXIT, FeedsyncError, messageOf } from '../lib/errors.ts'
import { VERSION } from '../lib/version.ts'
import { hintText } from '../ops/advice.ts'
import type { CommandLine } from '../ops/port.ts'
import { commandLineHere } from '../terminal/command-line.ts'
import { type Context, printError } from '../terminal/context.ts'
import { widthOf } from '../terminal/render.ts'

const EXIT_CODES = `
Exit codes: 0 ok, 1 failed, 2 changes pending or different, 3 not all ok,
4 credentials, 64 usage, 75 temporary, 78 configuration, 130/143 ended by a
signal. Any other code is a failure.`

/** Columns of the help that is not read on a terminal. */
const HELP_WIDTH = 80

/** Commands in the order of the help. A run loads only the command that it needs. */
const COMMANDS: Record<string, (context: Context) => Promise<Command>> = {
  run: async (context) => (await import('./run.ts')).runCommand(context),
  status: async (context) => (await import('./status.ts')).statusCommand(context),
  show: async (context) => (await import('./show.ts')).showCommand(context),
  check: async (context) => (await import('./check.ts')).checkCommand(context),
  diff: async (context) => (await import('./diff.ts')).diffCommand(context),
  cat: async (context) => (await import('./cat.ts')).catCommand(context),
  upload: async (context) => (await import('./upload.ts')).uploadCommand(context),
  release: async (context) => (await import('./decide.ts')).decisionCommand('release', context),
  discard: async (context) => (await import('./decide.ts')).decisionCommand('discard', context),
  pause: async (context) => (await import('./pause.ts')).pauseCommand(context),
  resume: async (context) => (await import('./pause.ts')).resumeCommand(context),
  logs: async (context) => (await import('./logs.ts')).logsCommand(context),
  retry: async (context) => (await import('./retry.ts')).retryCommand(context),
  restore: async (context) => (await import('./decide.ts')).decisionCommand('restore', context),
  forget: async (context) => (await import('./forget.ts')).forgetCommand(context),
  backup: async (context) => (await import('./backup.ts')).backupCommand(context),
  campaigns: campaignsCommand,
  doctor: async (context) => (await import('./doctor.ts')).doctorCommand(context),
  config: async (context) => (await import('./config.ts')).configCommand(context),
  alerts: async (context) => (await import('./alerts.ts')).alertsCommand(context),
  completion: async (context) => (await import('./completion.ts')).completionCommand(context),
  sandbox: async (context) => (await import('./sandbox.ts')).sandboxCommand(context),
  demo: async (context) => (await import('./demo.ts')).demoCommand(context),
}

/** The example in the help of each command. */
const EXAMPLES: Record<string, string> = {
  run: 'run --once',
  status: 'status --state held',
  show: 'show acme/jobs.xml',
  check: 'check export/*.xml',
  diff: 'diff acme/jobs.xml',
  cat: 'cat 12 > jobs.xml',
  upload: 'upload acme.xml --feed acme',
  release: 'release 12',
  discard: 'discard 12',
  retry: 'retry --all',
  restore: 'restore 11',
  forget: 'forget acme/old.xml',
  pause: 'pause acme/jobs.xml --for 2h',
  resume: 'resume',
  logs: 'logs -f acme/jobs.xml',
  backup: 'backup /var/backups/feedsyncd.db',
  'campaigns plan': 'campaigns plan NUR-Q1',
  'campaigns apply': 'campaigns apply NUR-Q1',
  'campaigns status': 'campaigns status NUR-Q1',
  'campaigns covers': 'campaigns covers NUR-Q1',
  'campaigns why': 'campaigns why R-1005',
  'campaigns preview': 'campaigns preview NUR-Q1',
  'campaigns history': 'campaigns history NUR-Q1',
  'campaigns export': 'campaigns export > campaigns.yaml',
  'campaigns forget': 'campaigns forget NUR-Q1',
  'campaigns search': 'campaigns search --status running',
  'campaigns get': 'campaigns get 48211',
  'campaigns create': 'campaigns create --name Nurses --budget 1500.00 --targeting @nurses.json',
  'campaigns update': 'campaigns update 48211 --budget 1500.00',
  doctor: 'doctor --offline',
  'config check': 'config check --config new.yaml',
  'config print': 'config print --json',
  'config schema': 'config schema > feedsyncd.schema.json',
  'alerts test': 'alerts test',
  completion: 'completion bash > /etc/bash_completion.d/feedsyncd',
  sandbox: 'sandbox --port 8080 --dir /tmp/sandbox',
  'sandbox sign': 'sandbox sign GET /v1/campaigns?Num=10',
  demo: 'demo --stay --dir var',
}

/** buildProgram returns the program with the named commands; by default with all. */
export async function buildProgram(
  context: Context,
  names: readonly string[] = Object.keys(COMMANDS),
): Promise<Command> {
  const program = new Command('feedsyncd')
    .description('Watches a folder for XML job feeds, checks each feed and delivers it.')
    .version(VERSION, '-V, --version', 'print the version')
    .option(
      '--config <file>',
      'configuration file (default: $FEEDSYNCD_CONFIG or /etc/feedsyncd/feedsyncd.yaml)',
    )
    .addHelpText('after', EXIT_CODES)
    .showSuggestionAfterError()
  const commands: Command[] = []
  for (const name of names) {
    const command = await COMMANDS[name]?.(context)
    if (command !== undefined) commands.push(command)
  }
  for (const command of commands) program.addCommand(command)
  prepare(program, context, [])
  return program
}

/** prepare gives a command and its subcommands the same output, errors and help. */
function prepare(command: Command, context: Context, path: readonly string[]): void {
  command
    .exitOverride()
    .configureOutput({
      writeOut: (text) => context.out(text.trimEnd()),
      writeErr: () => {},
      getOutHelpWidth: () => widthOf(context) ?? HELP_WIDTH,
    })
    .configureHelp({ showGlobalOptions: true })
  const example = EXAMPLES[path.join(' ')]
  if (example !== undefined) command.addHelpText('after', `\nExample: feedsyncd ${example}`)
  for (const inner of command.commands) prepare(inner, context, [...path, inner.name()])
}

/** runCli runs one command line, without the program's own name. It never throws. */
export async function runCli(args: readonly string[], context: Context): Promise<void> {
  const program = await buildProgram(context, neededFor(args))
  const meant = commandOf(program, args)
  try {
    await program.parseAsync([...args], { from: 'user' })
  } catch (error) {
    if (error instanceof CommanderError && error.code === 'commander.help') {
      context.err(meant.helpInformation())
      context.exit(EXIT.usage)
    } else {
      const commandLine = commandLineHere(context.env, program.opts<{ config?: string }>().config)
      context.exit(report(error, { context, meant, commandLine }))
    }
  }
}

/** neededFor returns the name of the called command; undefined if help, suggestions or completion need all commands. */
function neededFor(args: readonly string[]): string[] | undefined {
  const [first = '', , third = ''] = args
  if (first === '--version' || first === '-V') return []
  const word = first === '--config' ? third : first
  return word !== 'completion' && Object.hasOwn(COMMANDS, word) ? [word] : undefined
}

/** commandOf returns the innermost command that the words name. */
function commandOf(program: Command, args: readonly string[]): Command {
  let found = program
  for (const word of args) found = found.commands.find((one) => one.name() === word) ?? found
  return found
}

function wordsOf(command: Command): string {
  return command.parent === null ? command.name() : `${wordsOf(command.parent)} ${command.name()}`
}

/** report prints an error that a command threw, and returns the exit code for it. */
function report(
  error: unknown,
  { context, meant, commandLine }: { context: Context; meant: Command; commandLine: CommandLine },
): number {
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return EXIT.ok
    const message = error.message.replace(/^error: /, '').replace(/\n/g, ' ')
    printError(context, message, `${wordsOf(meant)} --help`)
    return EXIT.usage
  }
  if (error instanceof ConfigProblems) {
    for (const line of error.lines) context.err(line)
    return error.exitCode
  }
  if (error instanceof FeedsyncError) {
    printError(context, error.message, error.hint && hintText(error.hint, commandLine))
    return error.exitCode
  }
  const where = error instanceof Error ? error.stack : undefined
  printError(context, `unexpected: ${messageOf(error)}`, 'report this with the lines below')
  if (where !== undefined) context.err(where)
  return EXIT.failed
}

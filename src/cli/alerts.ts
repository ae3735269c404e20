// feedsyncd alerts test: sends a test message to every receiver, and prints the results.

import { Command } from 'commander'
import { sendTestAlerts } from '../app/queries.ts'
import { FeedsyncError } from '../lib/errors.ts'
import { type Context, outJson, readConfig } from './context.ts'
import { EXIT } from './exit-codes.ts'
import { printable } from './render.ts'

export function alertsCommand(context: Context): Command {
  const alerts = new Command('alerts').description('the receivers of alerts')
  alerts
    .command('test')
    .description('send a test message to every receiver; exit 1 if one cannot be reached')
    .option('--json', 'as JSON')
    .action(async (_options, command: Command) => {
      const { config: flag, json } = command.optsWithGlobals<{ config?: string; json?: boolean }>()
      const config = readConfig(context, flag)
      if (config.alerts.length === 0) {
        throw new FeedsyncError('the configuration names no receiver of alerts', {
          hint: 'add alerts: to it; feedsyncd.example.yaml shows a program and a webhook',
          exitCode: EXIT.config,
        })
      }
      const results = await sendTestAlerts(config, context)
      if (json) outJson(context, { alerts: results })
      else {
        for (const { to, on, ok, reason } of results) {
          const how = ok ? 'sent' : `not sent: ${reason}`
          context.out(printable(`${to} (${on.join(', ')}): ${how}`))
        }
      }
      context.exit(results.every(({ ok }) => ok) ? EXIT.ok : EXIT.failed)
    })
  return alerts
}

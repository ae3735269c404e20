// feedsyncd alerts test sends a test message to every receiver and prints the results.

import { Command } from 'commander'
import { sendTestAlerts } from '../app/queries.ts'
import { EXIT, FeedsyncError } from '../lib/errors.ts'
import { printable } from '../lib/printable.ts'
import type { Context } from '../terminal/context.ts'
import { define } from '../terminal/define.ts'

export function alertsCommand(context: Context): Command {
  const text = 'send a test message to every receiver; exit 1 if one cannot be reached'
  const test = define(context, 'test', text, async ({ config, show }) => {
    if (config.alerts.length === 0) {
      throw new FeedsyncError('the configuration has no alert receiver', {
        hint: 'add one under "alerts:"; feedsyncd.example.yaml shows a program and a webhook',
        exitCode: EXIT.config,
      })
    }
    const results = await sendTestAlerts(config, context)
    show({ alerts: results }, () =>
      results
        .map(
          ({ to, on, ok, reason }) =>
            `${to} (${on.join(', ')}): ${ok ? 'sent' : `not sent: ${reason}`}`,
        )
        .map(printable)
        .join('\n'),
    )
    context.exit(results.every(({ ok }) => ok) ? EXIT.ok : EXIT.failed)
  })
  return new Command('alerts').description('test the alert receivers').addCommand(test)
}

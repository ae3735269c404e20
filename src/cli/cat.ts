// feedsyncd cat writes the kept copy of a version to stdout, byte for byte.

import { createReadStream } from 'node:fs'
import { Command } from 'commander'
import { keptCopy } from '../app/compared-sides.ts'
import { type Context, readConfig } from '../terminal/context.ts'
import { versionId } from '../terminal/define.ts'

const PIECE_BYTES = 2 ** 18

export function catCommand(context: Context): Command {
  return new Command('cat')
    .description('write the kept copy of a version to stdout')
    .argument('<id>', 'an id that status prints', versionId)
    .action(async (id: number, _options, command: Command) => {
      const config = readConfig(context, command.optsWithGlobals<{ config?: string }>().config)
      const file = keptCopy(config, id)
      for await (const piece of createReadStream(file, { highWaterMark: PIECE_BYTES }))
        await context.write(piece)
      context.exit(0)
    })
}

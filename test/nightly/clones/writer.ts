// A thread that changes a file in a given way after a given time, beside a thread that reads the file.

import { execFileSync } from 'node:child_process'
import {
  appendFileSync,
  closeSync,
  openSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { parentPort } from 'node:worker_threads'

export const CHANGES = ['rewrite', 'append', 'truncate', 'replace', 'punch a hole'] as const
export type Change = (typeof CHANGES)[number]

export interface ChangeRequest {
  change: Change
  file: string
  /** A document of the same size as the file. */
  document: Buffer
  afterMs: number
}

const PIECE = 65_536

function make({ change, document, file }: ChangeRequest): void {
  switch (change) {
    case 'rewrite': {
      const fd = openSync(file, 'r+')
      for (let at = 0; at < document.length; at += PIECE)
        writeSync(fd, document.subarray(at, at + PIECE), 0, undefined, at)
      closeSync(fd)
      break
    }
    case 'append':
      appendFileSync(file, '<!-- more -->\n')
      break
    case 'truncate':
      truncateSync(file, document.length / 2)
      break
    case 'replace':
      writeFileSync(file, document)
      break
    case 'punch a hole':
      execFileSync('fallocate', ['-p', '-o', '65536', '-l', '65536', file])
  }
}

parentPort?.on('message', (request: ChangeRequest) => {
  const until = performance.now() + request.afterMs
  // A timer is not exact enough.
  while (performance.now() < until);
  make(request)
  parentPort?.postMessage('done')
})

// Small feeds and files for the tests of the reader.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { FieldPaths } from '../../src/domain/mapping.ts'
import { readFeed } from '../../src/feed/feed-reader.ts'
import type {
  CheckJob,
  CheckResult,
  FeedContent,
  FoundPaths,
  RunnerUp,
} from '../../src/feed/port.ts'

export class Folder implements Disposable {
  readonly path = mkdtempSync(join(tmpdir(), 'feedsyncd-feed-'))

  file(name: string, content: string | Buffer = ''): string {
    const path = join(this.path, name)
    writeFileSync(path, content)
    return path
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true })
  }
}

export function jobFor(source: string, more: Partial<CheckJob> = {}): CheckJob {
  const mapping = { encoding: null, records: null, fields: {} }
  return { source, expected: null, copyTo: null, indexTo: null, mapping, ...more }
}

/** readDocument returns the result of reading a document. Throws if the document cannot be read. */
export async function readDocument(
  document: string | Buffer,
  mapping: { records?: string; fields?: FieldPaths } = {},
  more: Partial<CheckJob> = {},
): Promise<Extract<CheckResult, { kind: 'read' }>> {
  using folder = new Folder()
  const job = jobFor(folder.file('feed.xml', document), {
    mapping: {
      encoding: null,
      records: mapping.records ?? null,
      fields: mapping.fields ?? {},
    },
    ...more,
  })
  const result = await readFeed(job)
  if (result.kind !== 'read') throw new Error(JSON.stringify(result))
  return result
}

/** contentOf returns the content of a document, and its paths. Throws if the document is not a sound feed. */
export async function contentOf(
  document: string | Buffer,
  mapping: { records?: string; fields?: FieldPaths } = {},
): Promise<FeedContent & { fields: FoundPaths; runnerUp: RunnerUp | null }> {
  const { verdict } = await readDocument(document, mapping)
  if (verdict.kind !== 'ok') throw new Error(JSON.stringify(verdict))
  return { ...verdict.content, fields: verdict.fields, runnerUp: verdict.runnerUp }
}

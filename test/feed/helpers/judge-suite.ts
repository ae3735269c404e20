// What the check says of the documents of the W3C suite and of sound ones, as JSON: also for a process of
// its own.

import { SOUND } from './damage.ts'
import { checkBytes } from './verdicts.ts'
import { suiteTests } from './w3c-suite.ts'

export function judged(): string {
  const documents = [...SOUND, ...suiteTests().map(({ bytes }) => bytes)]
  return JSON.stringify(documents.map((bytes) => checkBytes(bytes)))
}

if (import.meta.main) process.stdout.write(judged())

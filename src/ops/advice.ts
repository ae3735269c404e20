// What a person can do about a version, and which states wait for nobody. Pure.

import type { State, Version } from '../history/port.ts'

/** States that go on by themselves. */
export const STATES_IN_WORK: readonly State[] = [
  'settling',
  'incomplete',
  'checking',
  'queued',
  'uploading',
]

/** The hint of its state, and the command that decides; null where nothing is to be done. */
export function advice({ id, state, hint }: Pick<Version, 'id' | 'state' | 'hint'>): string | null {
  const command =
    state === 'held'
      ? `feedsyncd release ${id}, or feedsyncd discard ${id}`
      : state === 'failed'
        ? `feedsyncd retry ${id}`
        : null
  return [hint, command].filter((part) => part !== null).join('; then ') || null
}

// Open creations: feedsyncd sent a new campaign and does not know the result, so the campaign can still appear.

import { HOUR, isoTime } from '../lib/clock.ts'
import { isStillOpen } from '../lib/due.ts'
import type { CampaignWrite, KnownCampaign } from './port.ts'

/** LATE_MS is how long a listing can lack a new campaign, and how late a write can arrive. */
export const LATE_MS = HOUR

/** isOpen returns whether the campaign of an open creation can still appear. `now` is wall ms. */
export const isOpen = ({ at }: CampaignWrite, now: number) => isStillOpen(at, now, LATE_MS)

/** openText says that nobody knows whether a campaign was created. */
export function openText({ at, reason }: CampaignWrite, what: string) {
  const why = reason === null ? '' : ` (${reason})`
  return `feedsyncd sent ${what} at ${isoTime(at)} and does not know whether it was created${why}`
}

/** ofKey returns ` for KEY`, with the key of a creation; empty for a direct creation without a key. */
export const ofKey = ({ key }: CampaignWrite) => (key === '' ? '' : ` for ${key}`)

/** repeatText says when the daemon repeats a targeting, because nobody knows whether the last write arrived. */
export const repeatText = ({ repeatAt }: KnownCampaign) =>
  `feedsyncd does not know whether its last targeting arrived, and sends it again after ${isoTime(repeatAt)}`

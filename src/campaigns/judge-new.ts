// Decides whether the campaign of an entry may be created: never while another campaign might already belong to the
// entry. Pure.

import { commandFor, hintWith } from '../domain/command.ts'
import { isoTime } from '../lib/clock.ts'
import { isRecent } from '../lib/due.ts'
import type { Entry } from './desired.ts'
import { changeOf, currentValue, type FieldChange, isMonthly } from './field-changes.ts'
import { FIELDS, isLive } from './fields.ts'
import { blocked, type JudgedEntry, judged, PLAN, type Scene } from './judged-entry.ts'
import { markOf } from './mark.ts'
import { LATE_MS, ofKey, openText } from './open-creation.ts'
import type { CampaignWrite } from './port.ts'
import { idAndName } from './seen.ts'
import { sentOf } from './sent.ts'
import { briefTargeting } from './targeting.ts'

/** judgeNew judges an entry that no campaign was found for. */
export function judgeNew(entry: Entry, scene: Scene): JudgedEntry {
  const { memory, seen, identity, now, unbound } = scene
  const { key, values, targeting } = entry
  const open = scene.open.findLast((one) => one.key === key)
  const alikeOpen = scene.open.find((one) => nameIn(one) === values.name)
  const until = (one: CampaignWrite) => isoTime(one.at + LATE_MS)
  if (open !== undefined)
    return judged(entry, {
      state: 'unknown',
      reason: `${openText(open, 'this campaign')}: it can be created again after ${until(open)} if no listing shows it`,
      next: `wait; if you find the campaign on the service, write its campaignId into the entry ${key}`,
    })
  if (alikeOpen !== undefined)
    return blocked(
      entry,
      openText(alikeOpen, `a campaign with this name${ofKey(alikeOpen)}`),
      `wait until ${until(alikeOpen)}; if you find the campaign on the service, write its campaignId into the entry ${key}`,
    )
  const released = [...memory.released].flatMap(([id, from]) => (from === key ? id : []))
  const unread = [...memory.released.keys()].find((id) => seen.readFailure(id) !== null)
  if (unread !== undefined)
    return blocked(
      entry,
      `the forgotten campaign ${unread} cannot be read: ${seen.readFailure(unread)}`,
      PLAN,
    )
  const bind = (id: string) => `write campaignId: "${id}" into the entry ${key}`
  const former = unbound.live.find(({ id }) => released.includes(id))
  const [marked] = unbound.byMark(markOf(identity, key))
  const existing = former ?? marked
  if (existing !== undefined)
    return blocked(
      entry,
      `campaign ${idAndName(existing)} ${former === undefined ? 'carries our mark' : 'was forgotten'} and is still live: a new campaign would spend in addition`,
      `end the campaign on the service, or ${bind(existing.id)}`,
    )
  const missing = (['name', 'budget'] as const).find((field) => values[field] === undefined)
  if (missing !== undefined || targeting === null) {
    const what = missing ?? 'targeting'
    return blocked(
      entry,
      `a campaign is not created without ${what}`,
      `write ${what}: into the entry ${key}`,
    )
  }
  const moved = movedFrom(String(values.name), scene)
  const alike = moved?.campaign ?? unbound.byName(String(values.name))[0]
  const owner = moved === null ? 'no entry' : `the entry ${moved.key}, which left the file`
  if (alike !== undefined)
    return blocked(
      entry,
      `campaign ${idAndName(alike)} has this name and belongs to ${owner}`,
      `${bind(alike.id)}, or give the entry another name`,
    )
  const [cut] = (memory.openCreations.get(key) ?? []).flatMap(({ body }) =>
    unbound.cutFrom(String(Object(body).name)),
  )
  if (cut !== undefined)
    return blocked(
      entry,
      `the service might have cut the name of a campaign that feedsyncd sent: campaign ${idAndName(cut)} belongs to no entry`,
      `${bind(cut.id)}, or give campaign ${cut.id} another name on the service`,
    )
  const { restoredAt } = memory
  if (restoredAt !== null && isRecent(restoredAt, now, LATE_MS))
    return blocked(
      entry,
      `the database was restored from an older copy, so this campaign might exist already: feedsyncd can create it after ${isoTime(restoredAt + LATE_MS)}`,
      hintWith('wait, then', commandFor('campaigns plan')),
    )
  const fields = FIELDS.flatMap((field): FieldChange[] => {
    const want = values[field]
    if (want == null) return []
    const monthly = field === 'budget' && isMonthly(entry, null) && { isMonthly: true as const }
    return [{ ...changeOf(field, null, want), spend: 'up', ...monthly }]
  })
  const to = briefTargeting(targeting)
  const changes: FieldChange[] = [...fields, { field: 'targeting', from: null, to, spend: 'up' }]
  const action = { campaignId: null, action: 'create', changes } as const
  return judged(entry, { state: 'new', action })
}

/**
 * movedFrom finds a live campaign with this name whose key left the file, because a person might have corrected the
 * key; null if no such campaign exists.
 */
function movedFrom(name: string, { memory, seen, keys, now }: Scene) {
  for (const bound of memory.byId.values()) {
    const campaign = keys.has(bound.key) ? null : seen.campaign(bound.campaignId)
    const isAlike = campaign != null && currentValue(campaign, bound, 'name') === name
    if (isAlike && isLive(campaign, now)) return { key: bound.key, campaign }
  }
  return null
}

const nameIn = ({ body }: CampaignWrite) => sentOf(body ?? {}).values.name

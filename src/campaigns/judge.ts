// Owns the state of each entry: which campaign belongs to the entry, what differs, and the next step. Pure.

import { commandFor, hintWith } from '../domain/command.ts'
import type { Entry } from './desired.ts'
import { changesOf, type FieldChange, NOTHING_KNOWN } from './field-changes.ts'
import { isFixed } from './fields.ts'
import { judgeNew } from './judge-new.ts'
import { blocked, type JudgedEntry, judged, PLAN, type Scene } from './judged-entry.ts'
import { hasMark, markOf, markOn } from './mark.ts'
import { repeatText } from './open-creation.ts'
import type { Binding, KnownCampaign } from './port.ts'
import { idAndName } from './seen.ts'
import { mayDaemonSend, sentOf } from './sent.ts'
import type { Campaign } from './service/port.ts'
import { canonical, isSame } from './targeting.ts'
import { whyNotWrite } from './why-not-write.ts'

export function judge(entry: Entry, scene: Scene): JudgedEntry {
  const bound = scene.memory.byKey.get(entry.key)
  const id = entry.campaignId ?? bound?.campaignId
  return id === undefined ? judgeUnbound(entry, scene) : judgeById(entry, id, scene)
}

/** judgeById judges an entry whose campaign the file or the database names. */
function judgeById(entry: Entry, id: string, scene: Scene): JudgedEntry {
  const { memory, seen, identity, keys } = scene
  const { key } = entry
  const owner = memory.byId.get(id)
  const isBound = owner?.key === key
  const forget = isBound ? hintWith(null, commandFor('campaigns forget <key>', key)) : null
  const correct = `correct campaignId in the entry ${key}`
  const stuck = (reason: string, next: string): JudgedEntry =>
    judged(entry, { state: 'blocked', campaignId: id, reason, next, known: owner })
  if (owner !== undefined && !isBound && keys.has(owner.key))
    return stuck(`campaign ${id} belongs to the entry ${owner.key}`, correct)
  const campaign = seen.campaign(id)
  if (campaign === undefined) {
    const why = seen.readFailure(id)
    if (why !== null) return stuck(`campaign ${id} cannot be read: ${why}`, PLAN)
  }
  if (campaign == null) return stuck(`campaign ${id} is gone`, forget ?? correct)
  const ours = markOf(identity, key)
  const whyNot = whyNotWrite(campaign, { ours, campaignId: id, bound: owner ?? null })
  if (whyNot !== null) return stuck(whyNot, forget ?? correct)
  const known = owner ?? unboundKnown(key, campaign, scene)
  const changes = changesOf(entry, campaign, known)
  const fixed = changes.find(({ field }) => field !== 'targeting' && isFixed(field))
  if (fixed !== undefined) {
    const { field, from, to } = fixed
    const reason = `the service does not change ${field} after creation: the campaign has ${from ?? 'none'}, the file says ${to}`
    const write = from == null ? `leave ${field} out` : `write ${field}: ${from}`
    return { ...stuck(reason, `${write} in the entry ${key}`), campaign }
  }
  const found = { campaign, campaignId: id, known }
  if (!isBound)
    return judged(entry, {
      ...found,
      state: 'new',
      action: { campaignId: id, action: 'bind', changes },
    })
  if (changes.length === 0) return judged(entry, { ...found, state: 'in line' })
  const isPending = scene.keepsTargeting && willDaemonSend(entry, owner, changes)
  // The daemon repeats what a person or the daemon sent already: this is not a new line of the plan.
  const { targeting } = owner.sent
  const isRepeat =
    isPending && targeting !== null && isSame(entry.targeting ?? canonical({}), targeting)
  const isNew = ({ field }: FieldChange) => !isRepeat || field !== 'targeting'
  const open = changes.filter(isNew)
  const action = { campaignId: id, action: 'update', changes: open } as const
  return judged(entry, {
    ...found,
    state: isPending ? 'pending' : 'differs',
    reason: isRepeat ? repeatText(owner) : null,
    action: open.length === 0 ? null : action,
  })
}

/**
 * unboundKnown returns what we know of a campaign that is not bound: its mark, and what an open creation sent to it.
 */
function unboundKnown(key: string, { name }: Campaign, { memory, identity }: Scene): KnownCampaign {
  const creation = memory.openCreations.get(key)?.at(-1)
  const ours = markOf(identity, key)
  const known = { ...NOTHING_KNOWN, mark: markOn(name, ours) }
  return creation === undefined || !hasMark(name, ours)
    ? known
    : { ...known, sent: sentOf(creation.body ?? {}) }
}

/** willDaemonSend returns whether a daemon that writes targeting is about to send the entry's targeting. */
function willDaemonSend(
  { targeting }: Entry,
  { sent, repeatAt }: Binding,
  changes: readonly FieldChange[],
): boolean {
  if (targeting === null || sent.targeting === null) return false
  if (!mayDaemonSend(targeting)) return false
  const isOther = !isSame(targeting, sent.targeting) || repeatAt !== null
  return isOther && changes.every(({ field }) => field === 'targeting' || field === 'name')
}

/** judgeUnbound looks for the campaign of an entry that has none yet. */
function judgeUnbound(entry: Entry, scene: Scene): JudgedEntry {
  const { memory, seen, identity, namedIds, unbound } = scene
  const { key } = entry
  const mark = markOf(identity, key)
  const isFree = ({ id }: Campaign) => !memory.released.has(id) && !namedIds.has(id)
  const carrying = unbound.byCarriedId(key).filter(isFree)
  const candidates = carrying.length > 0 ? carrying : unbound.byMark(mark).filter(isFree)
  const [only, another] = candidates
  if (seen.incomplete !== null)
    return blocked(entry, `the listing is not complete: ${seen.incomplete}`, PLAN)
  if (only !== undefined && another !== undefined)
    return blocked(
      entry,
      `${candidates.length} campaigns fit this entry: ${candidates.slice(0, 5).map(idAndName).join(', ')}`,
      `write campaignId: "${only.id}" into the entry ${key}, or the id of another one`,
    )
  if (only !== undefined) {
    const whyNot = whyNotWrite(only, { ours: mark, campaignId: only.id, bound: null })
    const next = `correct the targeting of campaign ${only.id} on the service, or the key in the file`
    if (whyNot !== null) return { ...blocked(entry, whyNot, next), campaign: only }
    return judgeById(entry, only.id, scene)
  }
  return judgeNew(entry, scene)
}

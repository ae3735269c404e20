import { describe, expect, it } from 'vitest'
import {
  type Baseline,
  type GuardedVersion,
  type GuardLimits,
  guard,
} from '../../../src/pipeline/guards.ts'

describe('guards', () => {
  const past = (turnovers: number[]) => ({ turnovers: () => turnovers, isOtherFile: () => false })
  const limits: GuardLimits = { maxDropPercent: 50, minPostings: 1, secondFeed: 'pass' }
  const version = (postings: number, more: Partial<GuardedVersion> = {}): GuardedVersion => ({
    root: 'source',
    records: postings === 0 ? null : '/source/job',
    postings,
    bytes: postings * 1000,
    encoding: 'UTF-8',
    withoutId: 0,
    duplicates: 0,
    placeholder: null,
    ...more,
  })
  const older = (postings: number, more: Partial<Baseline> = {}): Baseline => {
    return { id: 7, changes: null, ...version(postings), ...more }
  }
  const held = (
    newer: GuardedVersion,
    baselines: readonly Baseline[],
    more: Partial<GuardLimits> = {},
    turnovers: number[] = [],
  ) => {
    const earlier = { older: baselines, past: past(turnovers) }
    return guard(newer, earlier, { ...limits, ...more })?.guard ?? 'pass'
  }
  const outcome = (newer: number, baseline: Baseline | null, more: Partial<GuardLimits> = {}) =>
    held(version(newer), baseline === null ? [] : [baseline], more)

  it('hold a feed without postings, even its first version, and even if minPostings is 0', () => {
    expect(outcome(0, null)).toBe('empty')
    expect(outcome(0, older(100))).toBe('empty')
    expect(outcome(0, null, { minPostings: 0 })).toBe('empty')
  })

  it('hold a feed with fewer postings than minPostings, and pass a feed with exactly as many', () => {
    expect(outcome(9, null, { minPostings: 10 })).toBe('min-postings')
    expect(outcome(10, null, { minPostings: 10 })).toBe('pass')
  })

  it('hold a template that nobody filled in, even its first version, and show a placeholder of it', () => {
    const template = version(1, { placeholder: '{{ job.id }}' })

    expect(held(template, [])).toBe('template')
    expect(held(template, [older(1)])).toBe('template')
    expect(guard(template, { older: [] }, limits)?.reason).toBe(
      'the feed is a template that was not filled in: most of its ids or titles are like "{{ job.id }}"',
    )
  })

  it('hold a drop of maxDropPercent or more, and pass a smaller drop, growth and a first version', () => {
    expect(outcome(50, older(100))).toBe('drop')
    expect(outcome(51, older(100))).toBe('pass')
    expect(outcome(150, older(100))).toBe('pass')
    expect(outcome(1, null)).toBe('pass')
    expect(outcome(1, older(100), { maxDropPercent: 100 })).toBe('pass')
    expect(outcome(100, older(100), { maxDropPercent: 0 })).toBe('pass')
    expect(outcome(99, older(100), { maxDropPercent: 0 })).toBe('drop')
  })

  it('hold a drop against any of the baselines, and pass a smaller drop against each of them', () => {
    expect(held(version(350), [older(1000), older(600, { id: 8 })])).toBe('drop')
    expect(held(version(600), [older(1000), older(600, { id: 8 })])).toBe('pass')
  })

  it('hold another root or record path, unless the earlier version had none', () => {
    expect(outcome(100, older(100, { root: 'rss' }))).toBe('shape')
    expect(outcome(100, older(100, { records: '/source/jobs/job' }))).toBe('shape')
    expect(outcome(100, older(0, { records: null }))).toBe('pass')
    expect(outcome(100, older(100, { root: null }))).toBe('pass')
  })

  it('hold the same number of postings if their ids are missing or equal, except a smaller loss or a first version', () => {
    const before = older(1000)

    expect(held(version(1000, { withoutId: 1000, duplicates: 999 }), [before])).toBe('missing-ids')
    expect(held(version(1000, { withoutId: 499 }), [before])).toBe('pass')
    expect(held(version(1000, { duplicates: 999 }), [before])).toBe('duplicate-ids')
    expect(held(version(1000, { duplicates: 999 }), [])).toBe('pass')
  })

  it('pass a feed that never had ids or always shared ids between postings', () => {
    const without = { withoutId: 1000, duplicates: 20 }
    const shared = { duplicates: 400 }

    expect(held(version(900, { withoutId: 900 }), [older(1000, without)])).toBe('pass')
    expect(held(version(1000, shared), [older(1000, shared)])).toBe('pass')
  })

  it('hold postings that lost more than half of their bytes, but not if they are few or were UTF-16 before', () => {
    expect(held(version(100, { bytes: 49_000 }), [older(100)])).toBe('shrink')
    expect(held(version(100, { bytes: 50_000 }), [older(100)])).toBe('pass')
    expect(held(version(900, { bytes: 100_000 }), [older(100)])).toBe('shrink')
    expect(held(version(60, { bytes: 40_000 }), [older(100)])).toBe('pass')
    expect(held(version(100, { bytes: 49_000 }), [older(100, { encoding: 'UTF-16LE' })])).toBe(
      'pass',
    )
    expect(held(version(9, { bytes: 9 }), [older(9)])).toBe('pass')
  })

  it('hold replaced postings if the feed has earlier uploads and none of them replaced its postings', () => {
    const renewed = older(1000, { changes: { added: 1000, removed: 950, changed: 0 } })

    expect(held(version(1000), [renewed], {}, [0.02, 0.1])).toBe('replaced')
    expect(held(version(1000), [renewed], {}, [0.02, 1])).toBe('pass')
    expect(held(version(1000), [renewed], {}, [])).toBe('pass')
  })

  it('count no posting without an id as gone, because a new date in it changes it', () => {
    const renewed = { changes: { added: 1000, removed: 1000, changed: 0 }, withoutId: 1000 }

    expect(held(version(1000, { withoutId: 1000 }), [older(1000, renewed)], {}, [0])).toBe('pass')
  })

  it('say what happened, name the compared version and say what to do', () => {
    const reason = (newer: GuardedVersion, baseline: Baseline) =>
      guard(newer, { older: [baseline], past: past([0]) }, limits)?.reason

    expect(guard(version(40), { older: [older(1200)] }, limits)).toEqual({
      guard: 'drop',
      reason:
        'the feed dropped from 1,200 postings to 40 (96 %); guards.maxDropPercent is 50; compared with version 7',
      hint: 'If this is right, release it; otherwise correct the export and drop the feed again.',
    })
    expect(reason(version(1000, { withoutId: 1000 }), older(1000))).toBe(
      'the number of postings with an id fell from 1,000 to 0 (100 %), of 1,000 in all; guards.maxDropPercent is 50; compared with version 7',
    )
    expect(reason(version(1000, { duplicates: 999 }), older(1000))).toBe(
      'the number of different postings fell from 1,000 to 1 (99 %), of 1,000 in all; guards.maxDropPercent is 50; compared with version 7',
    )
    expect(reason(version(1000, { bytes: 9000 }), older(1000))).toBe(
      'the postings shrank from 1,000 bytes on average to 9 (99 %); compared with version 7',
    )
    const changes = { added: 990, removed: 990, changed: 0 }
    expect(reason(version(1000), older(1000, { changes }))).toBe(
      '990 of 1,000 postings were replaced by others (99 %), unlike in its recent uploads; compared with version 7',
    )
  })
})

import { describe, expect, it } from 'vitest'
import type { FeedConfig } from '../../../src/config/config.ts'
import { feedFor } from '../../../src/config/feeds.ts'
import { orderDate } from '../../../src/domain/dated-name.ts'
import { feedRule } from '../../helpers/feed-rule.ts'

const NOW = Date.UTC(2027, 0, 5)

describe('the feed of a path', () => {
  it('is the path itself, with the default settings, if no rule matches', () => {
    const none = {
      feed: 'a/jobs.xml',
      account: null,
      dated: true,
      mapping: { encoding: null, records: null, fields: {} },
      expectEveryMs: null,
    }

    expect(feedFor('a/jobs.xml', [])).toEqual(none)
    expect(feedFor('a/jobs.xml', [feedRule('b/*.xml', { name: 'b' })])).toEqual(none)
  })

  it('has {date} instead of a date in the file name, unless its rule says otherwise', () => {
    const rules = [
      feedRule('raw/*', { dated: false }),
      feedRule('{1}/*', { partnerAccount: '{1}' }),
    ]
    const feedOf = (path: string) => feedFor(path, rules).feed

    expect(feedFor('jobs-2026-11-22.xml', []).feed).toBe('jobs-{date}.xml')
    expect(feedFor('43/jobs-20261122.xml', rules)).toMatchObject({
      ...{ feed: '43/jobs-{date}.xml', account: '43' },
    })
    expect(feedOf('raw/jobs-20261122.xml')).toBe('raw/jobs-20261122.xml')
    expect(feedFor('jobs-20261122.xml', [feedRule('*', { name: 'jobs' })]).feed).toBe('jobs')
  })

  it('is the same for an XML file and its compressed form', () => {
    expect(feedFor('a/jobs.xml.gz', []).feed).toBe('a/jobs.xml')
    expect(feedFor('jobs-20261122.XML.GZ', []).feed).toBe('jobs-{date}.XML')
    expect(feedFor('a/jobs.gz', []).feed).toBe('a/jobs.gz')
  })

  it.each([
    ['without a rule', [], 'köln/jobs.xml'],
    ['by a rule that matches and names it', [feedRule('köln/*.xml', { name: 'köln' })], 'köln'],
    ['by a captured segment', [feedRule('{1}/*.xml', { name: '{1}-jobs' })], 'köln-jobs'],
  ])('names a path in either Unicode form alike, %s', (_, rules, feed) => {
    for (const form of ['NFC', 'NFD']) {
      const path = 'köln/jobs.xml'.normalize(form)

      expect(feedFor(path, rules).feed).toBe(feed.normalize('NFC'))
      expect(feedFor('/new.xml', rules, feed.normalize(form)).feed).toBe(feed.normalize('NFC'))
    }
  })

  it('is the same for a file from the archive that is dropped again: its stamp is neither name nor date', () => {
    const feedOf = (path: string, rules: FeedConfig[] = []) => feedFor(path, rules).feed
    const stamp = '20270104T060000000Z'

    expect(feedOf(`a/jobs.${stamp}.xml`)).toBe('a/jobs.xml')
    expect(feedOf(`a/jobs.${stamp}.2.xml.gz`)).toBe('a/jobs.xml')
    expect(feedOf(`jobs-2026-11-22.${stamp}.xml`)).toBe('jobs-{date}.xml')
    expect(feedOf(`acme.${stamp}.xml`, [feedRule('{1}.xml', { name: '{1}' })])).toBe('acme')
    expect(feedOf(`20301215.${stamp}.xml`, [feedRule('*', { dated: false })])).toBe('20301215.xml')
    expect(orderDate(`jobs.${stamp}.xml`, NOW)).toBeNull()
    expect(orderDate(`jobs-2026-11-22.${stamp}.xml`, NOW)).toBe('20261122000000')
    expect(feedOf('jobs.20270104T0600.xml')).toBe('jobs.{date}.xml')
  })

  it('is also the path, with the settings of the rule, if the rule gives no name', () => {
    const rules = [feedRule('**/*.xml', { records: '/source/job', expectEveryMs: 1000 })]

    expect(feedFor('a/jobs.xml', rules)).toEqual({
      feed: 'a/jobs.xml',
      account: null,
      dated: true,
      mapping: { encoding: null, records: '/source/job', fields: {} },
      expectEveryMs: 1000,
    })
  })

  it('comes from a rule that matches the path with or without .gz', () => {
    const rules = [
      feedRule('packed/*.gz', { name: 'packed' }),
      feedRule('{1}/*.xml', { name: '{1}' }),
    ]

    const paths = ['acme/jobs.xml.gz', 'packed/jobs.xml.gz', 'a/JOBS.XML.GZ']
    const feeds = paths.map((path) => feedFor(path, rules).feed)

    expect(feeds).toEqual(['acme', 'packed', 'a'])
  })

  it('gets its name and account from the captured segments, and its fields from the rule', () => {
    const rules = [
      feedRule('{1}/{2}/*.xml', {
        name: '{2} of {1}',
        partnerAccount: '{1}',
        fields: { id: '@id' },
      }),
    ]

    expect(feedFor('acme/nurses/jobs.xml', rules)).toEqual({
      feed: 'nurses of acme',
      account: 'acme',
      dated: true,
      mapping: { encoding: null, records: null, fields: { id: '@id' } },
      expectEveryMs: null,
    })
  })

  it('comes from the first rule that matches', () => {
    const rules = [feedRule('acme/*.xml', { name: 'first' }), feedRule('**', { name: 'rest' })]

    const feeds = ['acme/a.xml', 'acme/b/c.xml', 'x.xml'].map((path) => feedFor(path, rules).feed)

    expect(feeds).toEqual(['first', 'rest', 'rest'])
  })

  it('does not fill a captured name that looks like a template', () => {
    const rules = [feedRule('{1}/{2}.xml', { name: '{1}-{2}' })]

    expect(feedFor('{2}/jobs.xml', rules).feed).toBe('{2}-jobs')
  })
})

describe('the feed that a person named for a file', () => {
  const named = (feed: string, rules: FeedConfig[]) => feedFor('/root/new.xml', rules, feed)
  const byFolder = feedRule('{1}/*.xml', {
    name: 'feed-{1}',
    partnerAccount: '{1}',
    expectEveryMs: 9,
  })

  it('has everything from the rule that gives this name', () => {
    const rules = [feedRule('acme/*.xml', { name: 'acme', partnerAccount: '7' }), byFolder]

    expect(named('acme', rules)).toMatchObject({ feed: 'acme', account: '7', expectEveryMs: null })
    expect(named('feed-43', rules)).toMatchObject({
      ...{ feed: 'feed-43', account: '43', expectEveryMs: 9 },
    })
  })

  it.each(['Care (24/7)', 'jobs {us,ca}', '!acme', 'a*b', 'R&D [IT]', 'C\\D'])(
    'matches the literal name of a rule and is never a pattern: %s',
    (name) => {
      const rules = [feedRule('us/*.xml', { name, partnerAccount: '7' })]

      expect(named(name, rules)).toMatchObject({ feed: name, account: '7' })
      expect(named('ab', rules)).toMatchObject({ feed: 'ab', account: null })
    },
  )

  it('comes from the rule with this literal name before a rule that captures it', () => {
    const rules = [
      feedRule('{1}/*.xml', { name: '{1}', partnerAccount: '{1}' }),
      feedRule('special.xml', { name: 'special', partnerAccount: '9' }),
    ]

    expect(named('special', rules)).toMatchObject({ feed: 'special', account: '9' })
  })

  it('has everything from the rule of a path if the name is that path', () => {
    const rules = [feedRule('{1}/jobs.xml', { partnerAccount: '{1}' })]

    expect(named('43/jobs.xml', rules)).toMatchObject({ feed: '43/jobs.xml', account: '43' })
  })

  it('has everything from the rule of the file if no rule gives this name', () => {
    expect(named('other', [byFolder])).toMatchObject({ feed: 'other', account: null })
    expect(feedFor('43/jobs.xml', [byFolder], 'other')).toMatchObject({
      ...{ feed: 'other', account: '43' },
    })
  })

  it('changes nothing if the rules give the file the same name', () => {
    const rules = [
      feedRule('jobs.xml', { name: 'acme', partnerAccount: '8' }),
      feedRule('*', { name: 'acme' }),
    ]

    expect(feedFor('jobs.xml', rules, 'acme')).toEqual(feedFor('jobs.xml', rules))
  })
})

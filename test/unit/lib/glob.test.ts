import { describe, expect, it } from 'vitest'
import { capturingMatcher, fillTemplate, globMatcher } from '../../../src/lib/glob.ts'

describe('a pattern', () => {
  it.each([
    ['**/*.xml', 'jobs.xml', true],
    ['**/*.xml', 'a/b/jobs.xml', true],
    ['**/*.xml', '.hidden/jobs.xml', true],
    ['**/*.xml', 'a\nb/two\nlines.xml', true],
    ['archive/**', 'archive/two\nlines.xml', true],
    ['{acme,globex}/*.xml', 'globex/jobs.xml', true],
    ['*.xml', 'a/jobs.xml', false],
    ['**/*.xml', 'jobs.xml.tmp', false],
    ['**/*.xml', 'jobs.xml.gz', false],
  ])(
    'matches a whole path of any names, and only ** matches a slash: %s, %j, %s',
    (pattern, path, matches) => {
      expect(globMatcher(pattern)(path)).toBe(matches)
    },
  )

  it.each([
    ['**/*.xml', 'JOBS.XML'],
    ['**/*.XML', 'jobs.Xml'],
    ['*.{xml,txt}', 'JOBS.TXT'],
    ['**/*.xml.gz', 'JOBS.XML.gz'],
    ['**/*.xml.gz', 'jobs.v.xml.GZ'],
  ])('with an extension matches this extension in any case: %s, %j', (pattern, path) => {
    expect(globMatcher(pattern)(path)).toBe(true)
  })

  it.each([
    ['JOBS.xml', 'jobs.XML', false],
    ['ACME/*.xml', 'acme/jobs.xml', false],
    ['feed.xml.*', 'feed.XML.gz', false],
    ['*.X*', 'jobs.XML', true],
    ['feed-*', 'feed-1.XML', true],
    ['v1.*', 'v1.XML', true],
  ])('matches all other letters in their own case: %s, %j, %s', (pattern, path, matches) => {
    expect(globMatcher(pattern)(path)).toBe(matches)
  })
})

describe('captures', () => {
  it.each([
    ['{1}/*.xml', 'acme/jobs.xml', { '1': 'acme' }],
    ['{1}/*.xml', 'Acme/JOBS.XML', { '1': 'Acme' }],
    ['feed-{1}', 'feed-A.XML', { '1': 'A.XML' }],
    ['{1}/{2}.xml', 'acme/jobs.xml', { '1': 'acme', '2': 'jobs' }],
    ['**/{1}/*.xml', 'a/b/c/jobs.xml', { '1': 'c' }],
    ['feed-{1}.xml', 'feed-acme.inc.xml', { '1': 'acme.inc' }],
    ['{1}/{1}.xml', 'acme/acme.xml', { '1': 'acme' }],
    ['{12}/*.xml', '.acme/jobs.xml', { '12': '.acme' }],
    ['*.xml', 'jobs.xml', {}],
    ['{1}/**/*.xml', 'ac\nme/b\nc/jobs.xml', { '1': 'ac\nme' }],
  ])('%s captures the numbered segments of %s', (pattern, path, captured) => {
    expect(capturingMatcher(pattern)(path)).toEqual(captured)
  })

  it.each([
    ['{1}/*.xml', 'jobs.xml'],
    ['{1}/*.xml', 'a/b/jobs.xml'],
    ['{1}/{1}.xml', 'acme/globex.xml'],
    ['{1}.xml', '.xml'],
  ])('%s does not match %s', (pattern, path) => {
    expect(capturingMatcher(pattern)(path)).toBeNull()
  })

  it('fill a template, and leave other placeholders as they are', () => {
    expect(fillTemplate('{1}-{2}', { '1': 'acme' })).toBe('acme-{2}')
  })
})

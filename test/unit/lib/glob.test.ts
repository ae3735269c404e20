import { describe, expect, it } from 'vitest'
import { capturingMatcher, fillTemplate, globMatcher } from '../../../src/lib/glob.ts'

describe('a pattern', () => {
  it.each([
    ['**/*.xml', 'jobs.xml', true],
    ['**/*.xml', 'a/b/jobs.xml', true],
    ['**/*.xml', '.hidden/jobs.xml', true],
    ['**/*.xml', 'jobs.xml.tmp', false],
    ['*.xml', 'a/jobs.xml', false],
    ['{acme,globex}/*.xml', 'globex/jobs.xml', true],
    ['**/*.xml', 'JOBS.XML', true],
    ['**/*.XML', 'jobs.Xml', true],
    ['*.{xml,txt}', 'JOBS.TXT', true],
    ['**/*.xml.gz', 'JOBS.XML.gz', true],
    ['**/*.xml.gz', 'jobs.v.xml.GZ', true],
    ['**/*.xml', 'jobs.xml.gz', false],
    ['feed.xml.*', 'feed.XML.gz', false],
    ['JOBS.xml', 'jobs.XML', false],
    ['ACME/*.xml', 'acme/jobs.xml', false],
    ['*.X*', 'jobs.XML', true],
    ['feed-*', 'feed-1.XML', true],
    ['v1.*', 'v1.XML', true],
    ['**/*.xml', 'a\nb/two\nlines.xml', true],
    ['archive/**', 'archive/two\nlines.xml', true],
  ])('%s against %j answers %s', (pattern, path, matches) => {
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

import { describe, expect, it } from 'vitest'
import { datedName, isOlder } from '../../../src/lib/dated-name.ts'

describe('a date in the name of a file', () => {
  it.each([
    ['jobs-20261122.xml', 'jobs-{date}.xml', '20261122000000'],
    ['jobs-2026-11-22.xml', 'jobs-{date}.xml', '20261122000000'],
    ['jobs_2026_11_22.xml', 'jobs_{date}.xml', '20261122000000'],
    ['20261122.xml', '{date}.xml', '20261122000000'],
    ['20261122jobs.XML', '{date}jobs.XML', '20261122000000'],
    ['acme/2026-11-22_jobs.xml', 'acme/{date}_jobs.xml', '20261122000000'],
    ['jobs-2000-01-01.xml', 'jobs-{date}.xml', '20000101000000'],
    ['jobs-2099-12-31.xml', 'jobs-{date}.xml', '20991231000000'],
    ['jobs-2024-02-29.xml', 'jobs-{date}.xml', '20240229000000'],
  ])('is not part of the name of its feed: %s is %s', (path, name, date) => {
    expect(datedName(path)).toEqual({ name, date })
  })

  it.each([
    ['jobs-20261122T1530.xml', '20261122153000'],
    ['jobs-20261122-1530.xml', '20261122153000'],
    ['jobs-20261122_1530.xml', '20261122153000'],
    ['jobs-20261122T153045.xml', '20261122153045'],
    ['jobs-2026-11-22-15-30.xml', '20261122153000'],
    ['jobs-2026-11-22T15-30-45.xml', '20261122153045'],
    ['jobs-2026_11_22_23-59-59.xml', '20261122235959'],
  ])('may be followed by a time: %s', (path, date) => {
    expect(datedName(path)).toEqual({ name: 'jobs-{date}.xml', date })
  })

  it.each([
    ['jobs-20261122T1530Z.xml', 'jobs-{date}Z.xml', '20261122153000'],
    ['jobs-20261122-2400.xml', 'jobs-{date}-2400.xml', '20261122000000'],
    ['jobs-20261122-1260.xml', 'jobs-{date}-1260.xml', '20261122000000'],
    ['jobs-20261122-153.xml', 'jobs-{date}-153.xml', '20261122000000'],
    ['jobs-20261122-15304.xml', 'jobs-{date}-15304.xml', '20261122000000'],
    ['jobs-20261122.1530.xml', 'jobs-{date}.1530.xml', '20261122000000'],
    ['jobs-2026-11-22 (2).xml', 'jobs-{date} (2).xml', '20261122000000'],
  ])('does not include text that is not a time: %s is %s', (path, name, date) => {
    expect(datedName(path)).toEqual({ name, date })
  })

  it.each([
    ['since-20250101-to-20261122.xml', 'since-20250101-to-{date}.xml', '20261122000000'],
    ['2026-11-22-2026-11-23.xml', '2026-11-22-{date}.xml', '20261123000000'],
    ['20261122_20269999.xml', '{date}_20269999.xml', '20261122000000'],
    ['2025-01-01/jobs-2026-11-22.xml', '2025-01-01/jobs-{date}.xml', '20261122000000'],
  ])('is the last of several real dates: %s is %s', (path, name, date) => {
    expect(datedName(path)).toEqual({ name, date })
  })

  it.each([
    ['jobs.xml'],
    ['jobs-20260230.xml'],
    ['jobs-2025-02-29.xml'],
    ['jobs-2026-13-01.xml'],
    ['jobs-2026-00-10.xml'],
    ['jobs-2026-11-00.xml'],
    ['jobs-19991231.xml'],
    ['jobs-21000101.xml'],
    ['jobs-2026-1122.xml'],
    ['jobs-2026-11_22.xml'],
    ['jobs-2026.11.22.xml'],
    ['jobs-22-11-2026.xml'],
    ['jobs-120261122.xml'],
    ['jobs-20261122153045.xml'],
    ['jobs-1763856000.xml'],
    ['2026-11-22/jobs.xml'],
    ['2026-11-22/'],
  ])('is not any number with eight digits: %s', (path) => {
    expect(datedName(path)).toEqual({ name: path, date: null })
  })
})

describe('the older of two files of one feed', () => {
  const file = (path: string, modifiedAt: number | null = null) => ({ path, modifiedAt })
  const isOlderOf = (a: ReturnType<typeof file>, b: ReturnType<typeof file>) =>
    isOlder('jobs-{date}.xml', a, b)

  it('is the one with the earlier date, even if it changed later', () => {
    const [before, after] = [file('jobs-20261122.xml', 9), file('jobs-2026-11-23.xml', 1)]

    expect([isOlderOf(before, after), isOlderOf(after, before)]).toEqual([true, false])
    expect(isOlderOf(file('jobs-20261122T0100.xml'), file('jobs-20261122T0200.xml'))).toBe(true)
  })

  it('is the one that changed earlier if the dates are the same', () => {
    const [before, after] = [file('jobs-20261122.xml', 1), file('jobs-2026-11-22.xml', 2)]

    expect([isOlderOf(before, after), isOlderOf(after, before)]).toEqual([true, false])
    expect(isOlderOf(file('jobs-20261122.xml'), after)).toBe(false)
  })

  it('is neither if one has no date or the feed has no dates in its name', () => {
    expect(isOlderOf(file('/root/jobs.xml', 1), file('jobs-20261122.xml', 2))).toBe(false)
    expect(isOlder('jobs', file('jobs-20261121.xml'), file('jobs-20261122.xml'))).toBe(false)
  })
})

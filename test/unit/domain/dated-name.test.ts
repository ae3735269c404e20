import { describe, expect, it } from 'vitest'
import { datedName, orderDate } from '../../../src/domain/dated-name.ts'

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
    ['jobs_22.11.2026.xml', 'jobs_{date}.xml', '20261122000000'],
    ['22.11.2026.xml', '{date}.xml', '20261122000000'],
    ['jobs-22-Nov-2026.xml', 'jobs-{date}.xml', '20261122000000'],
    ['jobs-1Nov2026.xml', 'jobs-{date}.xml', '20261101000000'],
    ['jobs November 22 2026.xml', 'jobs {date}.xml', '20261122000000'],
    ['JOBS-SEP-03-2026.xml', 'JOBS-{date}.xml', '20260903000000'],
    ['jobs-2026-sept-3.xml', 'jobs-{date}.xml', '20260903000000'],
    ['jobs_2026Nov22_1530.xml', 'jobs_{date}.xml', '20261122153000'],
  ])('is found, and is not part of the name of its feed: %s is %s', (path, name, date) => {
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
  ])('can be followed by a time, which is a part of it: %s', (path, date) => {
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
    ['jobs-22112026.xml'],
    ['jobs-11-22-2026.xml'],
    ['jobs-261122.xml'],
    ['jobs-22-nov-26.xml'],
    ['jobs-31.11.2026.xml'],
    ['jobs-1.2.2026.xml'],
    ['jobs-10.22.11.2026.xml'],
    ['summary-2-2026.xml'],
    ['2026-11-22/jobs.xml'],
    ['2026-11-22/'],
  ])('is not found in a file name without a day that can be read in one way only: %s', (path) => {
    expect(datedName(path)).toEqual({ name: path, date: null })
  })
})

describe('the date that orders the files of a feed', () => {
  const NOW = Date.UTC(2026, 10, 22)

  it('is the date in the file name with its time, or null without a date', () => {
    expect(orderDate('jobs-20261122T1530.xml', NOW)).toBe('20261122153000')
    expect(orderDate('jobs.xml', NOW)).toBeNull()
  })

  it('counts up to a year and a day ahead of the clock, and not beyond', () => {
    expect(orderDate('jobs-20271123.xml', NOW)).toBe('20271123000000')
    expect(orderDate('jobs-20271124.xml', NOW)).toBeNull()
    expect(orderDate('jobs-20620101.xml', NOW)).toBeNull()
  })

  it('counts while the clock of this host shows a time before feedsyncd existed', () => {
    expect(orderDate('jobs-20261122.xml', Date.UTC(1970, 0, 2))).toBe('20261122000000')
  })
})

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  formatBytes,
  formatDuration,
  parseDuration,
  parseSize,
  writeDuration,
  writeSize,
} from '../../../src/lib/units.ts'

describe('durations', () => {
  it.each([
    ['500ms', 500],
    ['2s', 2000],
    ['15m', 900_000],
    ['24h', 86_400_000],
    ['400d', 34_560_000_000],
    ['0s', 0],
  ])('reads %s', (text, ms) => {
    expect(parseDuration(text)).toBe(ms)
  })

  it.each([
    '',
    '15',
    'm',
    '1.5h',
    '-1s',
    '1 s',
    ' 1s',
    '1s\n',
    '1M',
    '1m30s',
    '1w',
    '1e3s',
    '٣s',
    '9007199254740992ms',
    '104249992d',
    `${'9'.repeat(400)}d`,
  ])('refuses %j', (text) => {
    expect(parseDuration(text)).toBeNull()
  })

  it('are written in the largest unit that divides them, and read back unchanged', () => {
    expect([0, 1500, 90_000, 900_000, 86_400_000].map(writeDuration)).toEqual([
      '0s',
      '1500ms',
      '90s',
      '15m',
      '1d',
    ])
    fc.assert(fc.property(fc.maxSafeNat(), (ms) => parseDuration(writeDuration(ms)) === ms))
  })

  it.each([
    [0, '0ms'],
    [999, '999ms'],
    [999.6, '1s'],
    [4_230, '4s'],
    [9_960, '10s'],
    [59_400, '59s'],
    [59_600, '1m'],
    [125_000, '2m 5s'],
    [3_599_900, '1h'],
    [11_040_000, '3h 4m'],
    [86_390_000, '1d'],
    [34_560_000_000, '400d'],
    [-125_000, '-2m 5s'],
  ])('are shown to people in at most two units: %d is %s', (ms, text) => {
    expect(formatDuration(ms)).toBe(text)
  })
})

describe('sizes', () => {
  it.each([
    ['512B', 512],
    ['5KiB', 5120],
    ['64MiB', 67_108_864],
    ['1GiB', 1_073_741_824],
    ['2TiB', 2_199_023_255_552],
  ])('reads %s', (text, bytes) => {
    expect(parseSize(text)).toBe(bytes)
  })

  it.each(['', '64', '64MB', '64mib', '1.5GiB', '-1B', '1 KiB', '8192TiB', '5M'])(
    'refuses %j',
    (text) => {
      expect(parseSize(text)).toBeNull()
    },
  )

  it('are written in a form that reads back unchanged', () => {
    fc.assert(fc.property(fc.maxSafeNat(), (bytes) => parseSize(writeSize(bytes)) === bytes))
  })

  it.each([
    [0, '0 B'],
    [1023, '1023 B'],
    [1024, '1 KiB'],
    [1536, '1.5 KiB'],
    [1_048_500, '1 MiB'],
    [210 * 2 ** 20, '210 MiB'],
    [1023 * 2 ** 30, '1023 GiB'],
    [5 * 2 ** 50, '5120 TiB'],
  ])('are shown to people in round figures: %d is %s', (bytes, text) => {
    expect(formatBytes(bytes)).toBe(text)
  })
})

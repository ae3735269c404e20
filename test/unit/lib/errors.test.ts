import { describe, expect, it } from 'vitest'
import { errorCode, systemReason } from '../../../src/lib/errors.ts'

describe('an error that libuv has no name for', () => {
  // As Node 24 says them: the first of a promise, the second of a synchronous call.
  it.each([
    [
      'Unknown system error -122',
      'Unknown system error -122: Unknown system error -122, write',
      -122,
    ],
    ['UNKNOWN', 'UNKNOWN: unknown error, write', -122],
  ])('has the name of the system: %s', (code, message, errno) => {
    const error = Object.assign(new Error(message), { code, errno })

    expect(errorCode(error)).toBe('EDQUOT')
    expect(systemReason(error)).toBe('EDQUOT')
  })

  it('stays as it is where the system has none either', () => {
    const error = Object.assign(new Error('UNKNOWN: unknown error, open'), { code: 'UNKNOWN' })

    expect([errorCode(error), systemReason(error)]).toEqual(['UNKNOWN', 'UNKNOWN'])
  })
})

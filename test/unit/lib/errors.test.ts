import { describe, expect, it } from 'vitest'
import { errorCode, systemReason } from '../../../src/lib/errors.ts'

describe('an error that libuv has no name for', () => {
  // The texts of Node 24: the first from a promise, the second from a synchronous call.
  it.each([
    [
      'Unknown system error -122',
      'Unknown system error -122: Unknown system error -122, write',
      -122,
    ],
    ['UNKNOWN', 'UNKNOWN: unknown error, write', -122],
  ])('gets the name of the system: %s', (code, message, errno) => {
    const error = Object.assign(new Error(message), { code, errno })

    expect(errorCode(error)).toBe('EDQUOT')
    expect(systemReason(error)).toBe('EDQUOT')
  })

  it('stays as it is if the system has no name for it', () => {
    const error = Object.assign(new Error('UNKNOWN: unknown error, open'), { code: 'UNKNOWN' })

    expect([errorCode(error), systemReason(error)]).toEqual(['UNKNOWN', 'UNKNOWN'])
  })
})

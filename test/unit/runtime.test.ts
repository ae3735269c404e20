import { expect, it } from 'vitest'

it('the tests run on the Node version that the project pins, not on that of the host', () => {
  expect(Number(process.versions.node.split('.')[0])).toBe(24)
})

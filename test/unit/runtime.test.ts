import { expect, it } from 'vitest'

it('runs on the Node that the project pins, whatever the host has', () => {
  expect(Number(process.versions.node.split('.')[0])).toBe(24)
})

import { expect, it } from 'vitest'
import { LaneQueue } from '../../../src/daemon/lane-queue.ts'

interface Item {
  group: string
  lane: 'small' | 'large'
}

const queueOf = (...items: Item[]) => {
  const queue = new LaneQueue<Item>()
  for (const item of items) queue.add(item)
  return queue
}

it('the queue gives the items of each lane in the order in which they were added, and then none', () => {
  const a: Item = { group: 'a', lane: 'small' }
  const b: Item = { group: 'b', lane: 'large' }
  const c: Item = { group: 'c', lane: 'small' }
  const queue = queueOf(a, b, c)

  expect([queue.take('small'), queue.take('small'), queue.take('small')]).toEqual([a, c, undefined])
  expect(queue.take('large')).toBe(b)
})

it('the queue gives the items of a group one at a time and in order, across all lanes', () => {
  const first: Item = { group: 'a', lane: 'large' }
  const second: Item = { group: 'a', lane: 'small' }
  const queue = queueOf(first, second)

  expect(queue.hasNext('small')).toBe(false)
  const taken = queue.take('large')
  expect(queue.hasNext('small')).toBe(false)
  if (taken !== undefined) queue.done(taken)

  expect(queue.take('small')).toBe(second)
})

it('the queue is empty only when all taken items are done', () => {
  const item: Item = { group: 'a', lane: 'small' }
  const queue = queueOf(item)

  queue.take('small')
  const meanwhile = queue.isEmpty
  queue.done(item)

  expect([meanwhile, queue.isEmpty]).toEqual([false, true])
})

// Who listens to the checker in tests. What is not listened to goes another way through the checker, which
// must judge it alike.

import type { XmlHandler } from '../../../src/feed/xml-events.ts'

/** Hears everything, and does nothing with it: to be spread into handlers that do. */
export const everything: XmlHandler = {
  place: 0,
  wantsText: true,
  open: () => true,
  ignores: () => false,
  text() {},
  close() {},
  moving() {},
}

export const LISTENERS: Record<'everything' | 'some' | 'nothing', XmlHandler> = {
  everything,
  some: {
    ...everything,
    place: 1,
    wantsText: false,
    open: ({ text }) => text.length % 2 === 1,
    ignores: ({ text }) => text.length % 2 === 0,
  },
  nothing: { ...everything, open: () => false },
}

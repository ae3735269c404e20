// Who listens to the checker in tests. The verdict must not depend on what they listen to.

import type { XmlHandler } from '../../../src/xml/handler.ts'

/** Hears everything, and does nothing with it: to be spread into handlers that do. */
export const everything: XmlHandler = {
  open: () => true,
  text() {},
  close() {},
  moving() {},
}

export const LISTENERS: Record<'everything' | 'some' | 'nothing', XmlHandler> = {
  everything,
  some: {
    ...everything,
    open: ({ text }) => text.length % 2 === 1,
  },
  nothing: { ...everything, open: () => false },
}

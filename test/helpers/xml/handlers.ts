// Handlers that listen to the checker in tests. The verdict must not depend on them.

import type { XmlHandler } from '../../../src/xml/handler.ts'

/** everything listens to all events and ignores them. Spread it into other handlers. */
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

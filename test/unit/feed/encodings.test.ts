import { expect, it } from 'vitest'
import { ENCODINGS } from '../../../src/feed/encodings.ts'
import { encodingNamed } from '../../../src/xml/encoding/encodings.ts'

it.each(ENCODINGS)('an encoding that a rule may name is one that can be read: %s', (name) => {
  expect(encodingNamed(name)).toMatchObject({ name })
})

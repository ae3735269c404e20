import { expect, it } from 'vitest'
import { ENCODINGS } from '../../../src/config/encodings.ts'
import { encodingNamed } from '../../../src/xml/encoding/encodings.ts'

it.each(ENCODINGS)('a feed rule may name the encoding %s, and the checker reads it', (name) => {
  expect(encodingNamed(name)).toMatchObject({ name })
})

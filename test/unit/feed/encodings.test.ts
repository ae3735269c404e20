import { expect, it } from 'vitest'
import { ENCODINGS } from '../../../src/config/encodings.ts'
import { encodingNamed } from '../../../src/xml/encoding/encodings.ts'

it.each(ENCODINGS)('the checker knows the encoding %s, which a feed rule may name', (name) => {
  expect(encodingNamed(name)).toMatchObject({ name })
})

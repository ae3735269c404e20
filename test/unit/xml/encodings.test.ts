import { describe, expect, it } from 'vitest'
import { DocumentChecker } from '../../../src/xml/document-checker.ts'
import { decodedText, type Text } from '../../../src/xml/handler.ts'
import { LIMITS } from '../../../src/xml/limits.ts'
import { everything } from '../../helpers/xml/handlers.ts'
import { checkBytes, verdictOf } from '../../helpers/xml/verdicts.ts'

function textOf(bytes: Buffer, pieceSize: number): string {
  let text = ''
  const check = new DocumentChecker(
    {
      ...everything,
      text: (portion) => (text += decodedText(portion)),
    },
    LIMITS,
  )
  for (let at = 0; at < bytes.length; at += pieceSize)
    check.write(bytes.subarray(at, at + pieceSize))
  expect(check.end()).toEqual({ kind: 'complete' })
  return text
}

function declared(encoding: string, ...content: number[]): Buffer {
  return Buffer.concat([
    Buffer.from(`<?xml version="1.0" encoding="${encoding}"?><a>`),
    Buffer.from(content),
    Buffer.from('</a>'),
  ])
}

describe('encodings', () => {
  it.each([
    ['windows-1252', [0x80, 0xe9], '€é'],
    ['cp1252', [0x93], '“'],
    ['windows-1250', [0xb3, 0x9c], 'łś'],
    ['windows-1251', [0xc0], 'А'],
    ['ISO-8859-1', [0xe9, 0x80, 0xff], 'é\u0080ÿ'],
    ['latin1', [0x9f], '\u009f'],
    ['ISO-8859-2', [0xb1, 0x85], 'ą\u0085'],
    ['ISO-8859-9', [0xf0, 0x80], 'ğ\u0080'],
    ['ISO-8859-11', [0xa1, 0x80], 'ก\u0080'],
    ['ISO-8859-15', [0xa4], '€'],
    ['ISO-8859-16', [0xaa], 'Ș'],
    ['utf8', [0xc3, 0xa9], 'é'],
    ['US-ASCII', [0x7e], '~'],
  ])('reads %s', (encoding, bytes, text) => {
    expect(textOf(declared(encoding, ...bytes), 65_536)).toBe(text)
    expect(textOf(declared(encoding, ...bytes), 1)).toBe(text)
  })

  it.each([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 14, 15, 16])('knows ISO-8859-%i', (part) => {
    expect(verdictOf(declared(`ISO-8859-${part}`))).toBe('complete')
  })

  it.each([0, 1, 2, 3, 4, 5, 6, 7, 8])('knows windows-125%i', (page) => {
    expect(verdictOf(declared(`windows-125${page}`))).toBe('complete')
  })

  it.each([
    ['windows-1252', [0x81]],
    ['windows-1253', [0xd2]],
    ['ISO-8859-3', [0xa5]],
    ['US-ASCII', [0xe9]],
    ['UTF-8', [0xe9]],
    ['UTF-8', [0xc0, 0xaf]],
    ['UTF-8', [0xe0, 0x80, 0xaf]],
    ['UTF-8', [0xed, 0xa0, 0x80]],
    ['UTF-8', [0xf4, 0x90, 0x80, 0x80]],
    ['UTF-8', [0xff]],
  ])('refuses bytes that %s lacks, at the first of them', (encoding, bytes) => {
    const document = declared(encoding, 0x78, ...bytes)

    for (const pieceSize of [1, 3, 65_536]) {
      expect(checkBytes(document, pieceSize).ending).toMatchObject({
        kind: 'fault',
        fault: { code: 'undecodable', at: document.length - bytes.length - '</a>'.length },
      })
    }
  })

  it('names the windows-1252 character of a byte that is not UTF-8, if the byte has one', () => {
    expect(checkBytes(declared('UTF-8', 0x63, 0x61, 0x66, 0xe9)).ending).toMatchObject({
      fault: {
        reason: expect.stringContaining('not UTF-8 (in windows-1252 this is "é"); declare'),
      },
    })
    expect(checkBytes(declared('UTF-8', 0x81)).ending).toMatchObject({
      fault: { reason: expect.stringMatching(/not UTF-8; declare/) },
    })
  })

  describe('from the caller replace the declared encoding', () => {
    const read = (bytes: Buffer, encoding: string) => {
      let text = ''
      const listener = {
        ...everything,
        text: (portion: Text) => (text += decodedText(portion)),
      }
      const check = new DocumentChecker(listener, LIMITS, encoding)
      check.write(bytes)
      return { ending: check.end(), text, warnings: check.warnings, encoding: check.encoding.name }
    }
    const unusual = 'the file is encoded in windows-1252; only UTF-8 works with every reader'
    const as1252 = 'and is read as windows-1252, as the configuration says'

    it.each([
      ['UTF-8', [unusual, `the file declares the encoding "UTF-8" ${as1252}`]],
      ['nonsense', [unusual, `the file declares the encoding "nonsense" ${as1252}`]],
      ['cp1252', [unusual]],
    ])('%s, with a warning unless it is the same', (name, warnings) => {
      expect(read(declared(name, 0x80, 0xe9), 'windows-1252')).toEqual({
        ...{ ending: { kind: 'complete' }, text: '€é', encoding: 'windows-1252', warnings },
      })
    })

    it('if the document declares no encoding, with a warning unless it is UTF-8', () => {
      expect(read(Buffer.from('<a>\xe9</a>', 'latin1'), 'windows-1252')).toMatchObject({
        ...{ text: 'é', warnings: [unusual, `the file declares no encoding ${as1252}`] },
      })
      expect(read(Buffer.from('<a>é</a>'), 'UTF-8')).toMatchObject({ text: 'é', warnings: [] })
    })

    it.each([
      ['\ufeff<a/>', 'utf8', 'begins with the byte order mark of UTF-8'],
      ['\ufeff<a/>', 'utf16le', 'begins with the byte order mark of UTF-16LE'],
      ['<a/>', 'utf16le', 'does not use it (it looks like UTF-16LE)'],
    ] as const)('but not if the bytes contradict them', (text, written, why) => {
      const { ending } = read(Buffer.from(text, written), 'windows-1252')

      expect(ending).toMatchObject({
        fault: {
          code: 'encoding-mismatch',
          reason: `the configuration names the encoding windows-1252, but the file ${why}; correct encoding in the rule of this feed`,
        },
      })
    })
  })

  it('refuses lone surrogates in UTF-16', () => {
    for (const text of ['\ufeff<a>x\ud800y</a>', '\ufeff<a>x\udc00y</a>']) {
      const bytes = Buffer.from(text, 'utf16le')

      expect(checkBytes(bytes).ending).toMatchObject({ fault: { code: 'undecodable', at: 4 } })
      expect(checkBytes(Buffer.from(bytes).swap16(), 1).ending).toMatchObject({
        fault: { code: 'undecodable', at: 4 },
      })
    }
  })

  it('reads UTF-16 with and without byte order mark, cut anywhere', () => {
    const text = (encoding: string) => `<?xml version="1.0" encoding="${encoding}"?><a>職😀é</a>`
    const documents = [
      Buffer.from(`\ufeff${text('UTF-16')}`, 'utf16le'),
      Buffer.from(`\ufeff${text('utf-16')}`, 'utf16le').swap16(),
      Buffer.from(text('UTF-16LE'), 'utf16le'),
      Buffer.from(text('UTF-16BE'), 'utf16le').swap16(),
    ]

    for (const document of documents) {
      for (const size of [1, 3, 65_536]) expect(textOf(document, size)).toBe('職😀é')
    }
  })

  it.each(['<a/>', '<?xml version="1.0"?><a/>', '<!-- b --><a/>'])(
    'refuses UTF-16 without a byte order mark and without a declaration: %s',
    (text) => {
      const bytes = Buffer.from(text, 'utf16le')
      const reason = expect.stringContaining('without a byte order mark')
      for (const document of [bytes, Buffer.from(bytes).swap16()])
        for (const size of [1, 3, 65_536])
          expect(checkBytes(document, size).ending).toMatchObject({
            fault: { code: 'encoding-mismatch', reason, at: 0 },
          })
    },
  )

  it.each([
    [
      'UTF-16 declared in an 8-bit file',
      Buffer.from('<?xml version="1.0" encoding="UTF-16"?><a/>'),
    ],
    [
      'a UTF-8 byte order mark on ISO-8859-1',
      Buffer.from('\ufeff<?xml version="1.0" encoding="ISO-8859-1"?><a/>'),
    ],
    [
      'a UTF-16 byte order mark on UTF-8',
      Buffer.from('\ufeff<?xml version="1.0" encoding="UTF-8"?><a/>', 'utf16le'),
    ],
    [
      'little-endian bytes declared UTF-16BE',
      Buffer.from('\ufeff<?xml version="1.0" encoding="UTF-16BE"?><a/>', 'utf16le'),
    ],
  ])('refuses %s', (_, bytes) => {
    expect(checkBytes(bytes).ending).toMatchObject({
      fault: {
        code: 'encoding-mismatch',
        reason: expect.stringContaining('declares the encoding'),
      },
    })
  })

  it.each(['Shift_JIS', 'EUC-JP', 'ISO-8859-12', 'UTF-7', 'ISO-10646-UCS-4'])(
    'reports %s as not supported',
    (encoding) => {
      expect(verdictOf(declared(encoding))).toBe('unsupported-encoding')
    },
  )

  it('reports UTF-32 as not supported', () => {
    expect(verdictOf(Buffer.from([0xff, 0xfe, 0, 0, 0x3c, 0, 0, 0]))).toBe('unsupported-encoding')
    expect(verdictOf(Buffer.from([0, 0, 0, 0x3c, 0, 0, 0, 0x61]))).toBe('unsupported-encoding')
  })
})

it('finds an undecodable byte at the same place with pieces of any size', () => {
  const bytes = Buffer.from([...Buffer.from('<a>b'), 0xc2, 0xc2, ...Buffer.from('</a>')])

  const places = [1, 2, 3, 4, 5, 6, 100].map((size) => {
    const { ending } = checkBytes(bytes, size)
    return ending.kind === 'fault' && [ending.fault.code, ending.fault.at]
  })

  expect(places).toEqual(places.map(() => ['undecodable', 4]))
})

describe('a document in an 8-bit encoding whose bytes are UTF-8', () => {
  const SAYS_UTF_8 = /^the file is read as .*, but all its characters beyond ASCII are valid UTF-8/
  const warned = (bytes: Buffer, given: string | null = null) =>
    [1, 65_536].map((size) => {
      const check = new DocumentChecker(everything, LIMITS, given)
      for (let at = 0; at < bytes.length; at += size) check.write(bytes.subarray(at, at + size))
      expect(check.end()).toEqual({ kind: 'complete' })
      return check.warnings.some((warning) => SAYS_UTF_8.test(warning))
    })
  const document = (encoding: string, text: string) => declared(encoding, ...Buffer.from(text))

  it('has a warning in pieces of any size, for a declared and for a configured encoding', () => {
    expect(warned(document('ISO-8859-1', 'på kultur'))).toEqual([true, true])
    expect(warned(document('windows-1252', 'Zażółć'))).toEqual([true, true])
    expect(warned(Buffer.from('<a>Köln</a>'), 'ISO-8859-15')).toEqual([true, true])
  })

  it('has no warning if it is ASCII, if one of its characters is not valid UTF-8, or if it is read as UTF-8', () => {
    expect(warned(document('ISO-8859-1', 'culture'))).toEqual([false, false])
    expect(warned(declared('ISO-8859-1', ...Buffer.from('på'), 0xe5))).toEqual([false, false])
    expect(warned(declared('ISO-8859-1', 0xe5, 0x20, 0xe6))).toEqual([false, false])
    expect(warned(Buffer.from('<a>Köln</a>'))).toEqual([false, false])
  })
})

// Recognises files that are something else than XML by their first bytes, so that the reason names
// what the file is and what to do about it.

interface Format {
  code: string
  begins: number[]
  reason: string
}

const compressed = (code: string, name: string, begins: number[]): Format => ({
  code,
  begins,
  reason: `the file is ${name}-compressed; export it uncompressed`,
})

const FORMATS: readonly Format[] = [
  compressed('gzip', 'gzip', [0x1f, 0x8b]),
  compressed('bzip2', 'bzip2', [0x42, 0x5a, 0x68]),
  compressed('xz', 'xz', [0xfd, 0x37, 0x7a, 0x58, 0x5a]),
  compressed('zstd', 'zstd', [0x28, 0xb5, 0x2f, 0xfd]),
  {
    code: 'zip',
    begins: [0x50, 0x4b, 0x03, 0x04],
    reason: 'the file is a zip archive; export the XML itself, uncompressed',
  },
  {
    code: '7z',
    begins: [0x37, 0x7a, 0xbc, 0xaf],
    reason: 'the file is a 7z archive; export the XML itself, uncompressed',
  },
  {
    code: 'pdf',
    begins: [...Buffer.from('%PDF')],
    reason: 'the file is a PDF document, not an XML feed',
  },
]

/** How many bytes of a file `foreignFormat` looks at. */
export const SIGNATURE_BYTES = 5

export function foreignFormat(head: Buffer): { code: string; reason: string } | null {
  return FORMATS.find((format) => format.begins.every((byte, i) => head[i] === byte)) ?? null
}

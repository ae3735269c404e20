// Feeds for tests.

export function feedOf(postings: number, title = 'Nurse'): string {
  const jobs = Array.from(
    { length: postings },
    (_, n) =>
      `<job><title><![CDATA[${title} ${n}]]></title><referencenumber>J-${n}</referencenumber>` +
      `<campaignid>${n % 2 ? 'A' : 'B'}</campaignid><city>Köln</city></job>\n`,
  )
  return `<?xml version="1.0" encoding="UTF-8"?>\n<source>\n${jobs.join('')}</source>\n`
}

/** lettersOf returns a name in letters for each number: files whose names differ only in numbers look alike. */
export function lettersOf(n: number): string {
  const last = String.fromCharCode(97 + (n % 26))
  return n < 26 ? last : lettersOf(Math.floor(n / 26) - 1) + last
}

// The feeds of the demo. They are small and have the shapes and encodings that vendors send: Indeed, Snagajob, RSS,
// and attributes only. One feed is broken, and one is cut short at first.

export interface DemoFeed {
  name: string
  bytes: Buffer
  /** The state that the feed must have at the end of the demo. */
  expected: 'uploaded' | 'rejected'
  /** Number of bytes that are written first. The rest follows when the feed is `incomplete`. */
  cutAt?: number
}

/** The title and the city of each job. The titles are escaped for XML and HTML. */
const JOBS = [
  ['Registered Nurse', 'Boston'],
  ['Line Cook', 'Montréal'],
  ['Fleet Mechanic', 'Köln'],
  ['Señor Café Manager', 'Austin'],
  ['Bücker &amp; Sohn', 'Reno'],
] as const

function repeat(count: number, record: (n: number, title: string, city: string) => string): string {
  const jobs = Array.from({ length: count }, (_, n) => [n + 1, JOBS[n % JOBS.length]] as const)
  return jobs.map(([n, [title, city] = ['', '']]) => record(n, title, city)).join('')
}

const indeed = (count: number) =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<source>\n<publisher>Example ATS</publisher>\n${repeat(
    count,
    (n, title, city) => `<job>
  <title>${title}</title>
  <referencenumber>J-${1000 + n}</referencenumber>
  <campaignid>${n % 3 === 0 ? 'NUR-Q1' : 'GEN-26'}</campaignid>
  <requisitionid>R-${n % 7}</requisitionid>
  <city>${city}</city>
  <description><![CDATA[<p>Work as <b>${title}</b> & more &nbsp; in ${city}.</p>]]></description>
</job>\n`,
  )}</source>\n`

const postings = `<?xml version="1.0" encoding="UTF-16"?>\n<Postings>${repeat(
  12,
  (n, title, city) =>
    `<Item><Brand>Example</Brand><Job_Title>${title}</Job_Title><City>${city}</City>` +
    `<State>MA</State><Zip>0213${n % 10}</Zip><Job_Description>Ref ${n}</Job_Description></Item>`,
)}</Postings>`

const latin = `<?xml version="1.0" encoding="ISO-8859-1"?>\n<jobs>${repeat(
  8,
  (n, title, city) => `<job id="${n}" title="${title}" region="${city}"/>`,
)}</jobs>`

const rss = `<?xml version="1.0"?>\n<rss version="2.0"><channel><title>Jobs</title>${repeat(
  5,
  (n, title) =>
    `<item><title>${title}</title><guid>urn:job:${n}</guid><link>https://jobs.example/${n}</link></item>`,
)}</channel></rss>\n`

export function demoFeeds(): DemoFeed[] {
  const uploaded = (name: string, ...bytes: Buffer[]): DemoFeed => {
    return { name, bytes: Buffer.concat(bytes), expected: 'uploaded' }
  }
  const large = Buffer.from(indeed(40))
  const broken = indeed(3).replace('Example ATS', 'Nuts & Bolts ATS')
  return [
    uploaded('indeed/nursing.xml', Buffer.from(indeed(25))),
    uploaded('postings-utf16.xml', Buffer.of(0xff, 0xfe), Buffer.from(postings, 'utf16le')),
    uploaded('attributes-latin1.xml', Buffer.from(latin, 'latin1')),
    uploaded('rss-bom.xml', Buffer.of(0xef, 0xbb, 0xbf), Buffer.from(rss)),
    { name: 'bare-ampersand.xml', bytes: Buffer.from(broken), expected: 'rejected' },
    { ...uploaded('cut-short.xml', large), cutAt: Math.floor(large.length * 0.6) },
  ]
}

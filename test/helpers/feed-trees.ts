// Random feeds whose postings lie in groups and envelopes with many names. The generator knows how many postings it
// made, and where.

import fc from 'fast-check'

interface FeedTree {
  document: string
  postings: number
  /** Full path of the postings. */
  records: string
}

const ENVELOPES = ['data', 'response', 'export', 'body', 'envelope', 'channel', 'liste', 'feed']
const GROUPS = [
  ...['category', 'company', 'region', 'gruppe', 'client', 'department', 'section', 'jobType'],
  ...['country', 'entry', 'offer', 'filiale', 'dzial'],
]
const CONTAINERS = ['jobs', 'items', 'list', 'vacancies', 'stellen']
const STRONG = [
  ...['job', 'vacancy', 'position', 'JobPosting', 'job-offer', 'stelle', 'vacature', 'offre'],
  ...['oferta', 'stilling', 'annons', 'vaga', 'annuncio', 'вакансия', 'x:Job'],
]
const OTHER = [
  ...['item', 'entry', 'record', 'row', 'listing', 'advert', 'eintrag', 'gesuch', 'node'],
  ...['job_record', 'open_position', 'element', 'praca'],
]
/** The words of a title, an id, a place and a description. */
const WORDS = [
  ['title', 'id', 'city', 'description'],
  ['job-title', 'reference', 'location', 'summary'],
  ['titel', 'referenznummer', 'ort', 'beschreibung'],
  ['functie', 'referentie', 'plaats', 'omschrijving'],
  ['intitulé', 'reference', 'ville', 'descriptif'],
  ['título', 'referencia', 'ciudad', 'descripción'],
  ['tittel', 'referanse', 'sted', 'beskrivelse'],
  ['rubrik', 'referensnummer', 'ort', 'beskrivning'],
  ['stanowisko', 'numer_referencyjny', 'miasto', 'opis'],
  ['titolo', 'riferimento', 'città', 'descrizione'],
  ['должность', 'id', 'город', 'описание'],
] as const

const isTrue = (percent: number) => fc.integer({ min: 0, max: 99 }).map((n) => n < percent)

const group = fc.record({
  name: fc.constantFrom(...GROUPS),
  attributes: fc.record({ id: isTrue(40), name: isTrue(40) }),
  elements: fc.record({ id: isTrue(20), name: isTrue(30), city: isTrue(20) }),
  /** How many groups of this level, and how many postings, one place gets in turn. */
  sizes: fc.array(fc.integer({ min: 0, max: 5 }), { minLength: 3, maxLength: 12 }),
})

const options = fc.record({
  envelopes: fc.array(fc.constantFrom(...ENVELOPES), { minLength: 1, maxLength: 3 }),
  groups: fc.array(group, { maxLength: 2 }),
  container: fc.option(fc.constantFrom(...CONTAINERS), { freq: 1 }),
  name: fc.constantFrom(...STRONG, ...OTHER),
  words: fc.constantFrom(...WORDS),
  fields: fc.record({ id: isTrue(70), city: isTrue(50), description: isTrue(70) }),
  inner: fc.record({ locations: isTrue(30), contact: isTrue(30), skills: isTrue(30) }),
  header: isTrue(30),
})
type Options = typeof options extends fc.Arbitrary<infer T> ? T : never

/** feedTrees makes feeds with at least two postings. Groups can be empty. */
export const feedTrees: fc.Arbitrary<FeedTree> = options
  .filter(({ groups, name }) => groups.every((each) => each.name !== name))
  .map(treeOf)
  .filter(({ postings }) => postings > 1)

function treeOf(made: Options): FeedTree {
  const { container, envelopes, groups, header, name } = made
  let postings = 0
  const many = (level: number, turn: number): string => {
    const at = groups[level]
    const sizes = (at ?? groups.at(-1))?.sizes ?? [4]
    const size = sizes[turn % sizes.length] ?? 1
    if (at === undefined) {
      const jobs = Array.from({ length: size }, () => posting(made, ++postings)).join('')
      return container === null ? jobs : `<${container}>${jobs}</${container}>`
    }
    // The outermost level has at least two groups, else the group would be part of the envelope.
    const count = level === 0 ? Math.max(2, size) : size
    return Array.from({ length: count }, (_, n) => {
      const { attributes, elements } = at
      const attribute = `${attributes.id ? ` id="g${n}"` : ''}${attributes.name ? ` name="G ${n}"` : ''}`
      const own = `${elements.id ? `<id>g${n}</id>` : ''}${elements.name ? `<name>G ${n}</name>` : ''}`
      const city = elements.city ? '<city>Wien</city>' : ''
      return `<${at.name}${attribute}>${own}${city}${many(level + 1, turn + n)}</${at.name}>`
    }).join('')
  }
  const before = header
    ? '<publisher><name>ATS</name></publisher><stats><stat><id>1</id></stat><stat><id>2</id></stat></stats>'
    : ''
  const inside = before + many(0, 0)
  const [root = 'data', ...more] = envelopes
  const wrapped = more.reduceRight((text, each) => `<${each}>${text}</${each}>`, inside)
  const path = [
    ...envelopes,
    ...groups.map((each) => each.name),
    ...(container ? [container] : []),
    name,
  ]
  return {
    document: `<${root} xmlns:x="urn:x">${wrapped}</${root}>`,
    postings,
    records: `/${path.join('/')}`,
  }
}

function posting({ fields, inner, name, words }: Options, n: number): string {
  const [title, id, city, description] = words
  const parts = [
    `<${title}>Cook ${n}</${title}>`,
    fields.id ? `<${id}>R-${n}</${id}>` : '',
    fields.city ? `<${city}>Graz</${city}>` : '',
    fields.description ? `<${description}>Text ${n}</${description}>` : '',
    inner.locations
      ? `<locations>${'<location id="3"><name>Linz</name></location>'.repeat(1 + (n % 3))}</locations>`
      : '',
    inner.contact ? '<contact><name>Ann</name><title>Dr</title></contact>' : '',
    inner.skills
      ? `<skills>${'<skill id="1"><level>2</level></skill>'.repeat(n % 4)}</skills>`
      : '',
  ]
  return `<${name}>${parts.join('')}</${name}>`
}

// Feeds in many languages, each in another shape. saxes is the second opinion: it must find the expected values at the
// paths that the check names.

import { describe, expect, it } from 'vitest'
import type { FieldPaths } from '../../../src/domain/mapping.ts'
import type { FoundPaths } from '../../../src/feed/port.ts'
import { bySaxes } from '../../helpers/by-saxes.ts'
import { contentOf } from '../../helpers/feeds.ts'

interface Feed {
  document: string
  records: string
  postings: number
  fields: FieldPaths
  /** The values of the first posting. */
  first: FieldPaths
}

/** times repeats a posting; `#` becomes the number of each copy. */
const times = (count: number, posting: string, from = 1) =>
  Array.from({ length: count }, (_, n) => posting.replaceAll('#', `${n + from}`)).join('\n')

const FEEDS: Record<string, Feed> = {
  'German, in groups of a region': {
    document: `<stellenmarkt>${['NW', 'BY']
      .map(
        (land, n) =>
          `<region kuerzel="${land}">${times(
            3,
            `<eintrag><Kennziffer>K-#</Kennziffer><Stellenbezeichnung>Koch #</Stellenbezeichnung><Arbeitsort>Köln</Arbeitsort>
          <PLZ>50667</PLZ><Bundesland>Hessen</Bundesland><Beschreibung>Für die Küche</Beschreibung></eintrag>`,
            n * 3 + 1,
          )}</region>`,
      )
      .join('')}</stellenmarkt>`,
    records: '/stellenmarkt/region/eintrag',
    postings: 6,
    fields: {
      ...{ id: 'Kennziffer', title: 'Stellenbezeichnung', city: 'Arbeitsort', state: 'Bundesland' },
      ...{ postalCode: 'PLZ', description: 'Beschreibung' },
    },
    first: {
      ...{ id: 'K-1', title: 'Koch 1', city: 'Köln', state: 'Hessen', postalCode: '50667' },
      description: 'Für die Küche',
    },
  },
  'Dutch, in a list of companies': {
    document: `<bedrijven>${times(
      2,
      `<bedrijf><id>B#</id><naam>Bakker</naam><vacatures>${times(2, '<vacature><vacature-nummer>V#</vacature-nummer><functietitel>Kok</functietitel><standplaats>Utrecht</standplaats><provincie>Utrecht</provincie><postcode>3511</postcode><omschrijving>Koken</omschrijving></vacature>')}</vacatures></bedrijf>`,
    )}</bedrijven>`,
    records: '/bedrijven/bedrijf/vacatures/vacature',
    postings: 4,
    fields: {
      ...{ id: 'vacature-nummer', title: 'functietitel', city: 'standplaats', state: 'provincie' },
      ...{ postalCode: 'postcode', description: 'omschrijving' },
    },
    first: {
      ...{ id: 'V1', title: 'Kok', city: 'Utrecht', state: 'Utrecht', postalCode: '3511' },
      description: 'Koken',
    },
  },
  'French, one posting with a compound name': {
    document:
      '<offres_emploi><offre_emploi><référence>R1</référence><intitulé>Développeur</intitulé><ville>Paris</ville><CP>75001</CP><descriptif>Du code</descriptif></offre_emploi></offres_emploi>',
    records: '/offres_emploi/offre_emploi',
    postings: 1,
    fields: {
      ...{ id: 'référence', title: 'intitulé', city: 'ville', postalCode: 'CP' },
      description: 'descriptif',
    },
    first: {
      ...{ id: 'R1', title: 'Développeur', city: 'Paris', postalCode: '75001' },
      description: 'Du code',
    },
  },
  'French, one posting in a list with an unknown name': {
    document:
      '<mandats><mandat><reference>R1</reference><titre>Cuisinier</titre><lieu>Lyon</lieu><texte>La cuisine</texte></mandat></mandats>',
    records: '/mandats/mandat',
    postings: 1,
    fields: { id: 'reference', title: 'titre', city: 'lieu', description: 'texte' },
    first: { id: 'R1', title: 'Cuisinier', city: 'Lyon', description: 'La cuisine' },
  },
  'Spanish, in an envelope': {
    document: `<respuesta><datos><pagina>1</pagina><ofertas>${times(3, '<oferta><referencia>R#</referencia><título>Cocinero</título><ciudad>Sevilla</ciudad><provincia>Sevilla</provincia><código_postal>41001</código_postal><descripción>Cocina</descripción></oferta>')}</ofertas></datos></respuesta>`,
    records: '/respuesta/datos/ofertas/oferta',
    postings: 3,
    fields: {
      ...{ id: 'referencia', title: 'título', city: 'ciudad', state: 'provincia' },
      ...{ postalCode: 'código_postal', description: 'descripción' },
    },
    first: {
      ...{ id: 'R1', title: 'Cocinero', city: 'Sevilla', state: 'Sevilla', postalCode: '41001' },
      description: 'Cocina',
    },
  },
  'Portuguese, with attributes only': {
    document: `<vagas>${times(2, '<vaga vaga-id="V#" titulo="Cozinheiro" cidade="Recife" uf="PE" cep="50010"/>')}</vagas>`,
    records: '/vagas/vaga',
    postings: 2,
    fields: {
      ...{ id: '@vaga-id', title: '@titulo', city: '@cidade', state: '@uf', postalCode: '@cep' },
    },
    first: { id: 'V1', title: 'Cozinheiro', city: 'Recife', state: 'PE', postalCode: '50010' },
  },
  'Italian, with an id that all postings share': {
    document: `<annunci>${times(20, '<annuncio><id>9</id><riferimento>A-#</riferimento><titolo>Cuoco</titolo><città>Torino</città><descrizione>Cucina</descrizione></annuncio>')}</annunci>`,
    records: '/annunci/annuncio',
    postings: 20,
    fields: { id: 'riferimento', title: 'titolo', city: 'città', description: 'descrizione' },
    first: { id: 'A-1', title: 'Cuoco', city: 'Torino', description: 'Cucina' },
  },
  'Norwegian, with a posting whose title has the name of postings': {
    document: `<annonser>${times(2, '<annonse><annonsenummer>#</annonsenummer><stilling>Kokk</stilling><sted>Bergen</sted><postnummer>5003</postnummer><fylke>Vestland</fylke><beskrivelse>På kjøkkenet</beskrivelse></annonse>')}</annonser>`,
    records: '/annonser/annonse',
    postings: 2,
    fields: {
      ...{ id: 'annonsenummer', title: 'stilling', city: 'sted', state: 'fylke' },
      ...{ postalCode: 'postnummer', description: 'beskrivelse' },
    },
    first: {
      ...{ id: '1', title: 'Kokk', city: 'Bergen', state: 'Vestland', postalCode: '5003' },
      description: 'På kjøkkenet',
    },
  },
  'Swedish, HR-XML 1': {
    document:
      '<Envelope><Packet><JobPositionPosting><JobPositionPostingId>46-1</JobPositionPostingId><JobPositionInformation><JobPositionTitle>Kock</JobPositionTitle><JobPositionDescription><JobPositionPurpose>Köket</JobPositionPurpose><JobPositionLocation><PostalAddress><PostalCode>11356</PostalCode><Region>AB</Region><Municipality>Stockholm</Municipality></PostalAddress></JobPositionLocation></JobPositionDescription></JobPositionInformation></JobPositionPosting></Packet></Envelope>',
    records: '/Envelope/Packet/JobPositionPosting',
    postings: 1,
    fields: {
      id: 'JobPositionPostingId',
      title: 'JobPositionInformation/JobPositionTitle',
      city: 'JobPositionInformation/JobPositionDescription/JobPositionLocation/PostalAddress/Municipality',
      state:
        'JobPositionInformation/JobPositionDescription/JobPositionLocation/PostalAddress/Region',
      postalCode:
        'JobPositionInformation/JobPositionDescription/JobPositionLocation/PostalAddress/PostalCode',
      description: 'JobPositionInformation/JobPositionDescription/JobPositionPurpose',
    },
    first: {
      ...{ id: '46-1', title: 'Kock', city: 'Stockholm', state: 'AB', postalCode: '11356' },
      description: 'Köket',
    },
  },
  'Polish, in categories with names': {
    document: `<praca>${times(
      2,
      `<kategoria id="#" nazwa="Kuchnia">${times(3, '<pozycja><numer_oferty>P#</numer_oferty><stanowisko>Kucharz</stanowisko><miejscowość>Łódź</miejscowość><kod_pocztowy>90-001</kod_pocztowy><opis>W kuchni</opis></pozycja>')}</kategoria>`,
    )}</praca>`,
    records: '/praca/kategoria/pozycja',
    postings: 6,
    fields: {
      ...{ id: 'numer_oferty', title: 'stanowisko', city: 'miejscowość' },
      ...{ postalCode: 'kod_pocztowy', description: 'opis' },
    },
    first: {
      ...{
        id: 'P1',
        title: 'Kucharz',
        city: 'Łódź',
        postalCode: '90-001',
        description: 'W kuchni',
      },
    },
  },
  'Russian, with headers before the postings': {
    document: `<каталог><разделы><раздел id="1">Кухня</раздел><раздел id="2">Зал</раздел></разделы><вакансии>${times(3, '<вакансия id="#"><должность>Повар</должность><город>Москва</город><индекс>101000</индекс><описание>На кухне</описание></вакансия>')}</вакансии></каталог>`,
    records: '/каталог/вакансии/вакансия',
    postings: 3,
    fields: {
      ...{ id: '@id', title: 'должность', city: 'город', postalCode: 'индекс' },
      description: 'описание',
    },
    first: {
      ...{ id: '1', title: 'Повар', city: 'Москва', postalCode: '101000', description: 'На кухне' },
    },
  },
  'Japanese, as rows of a table': {
    document: `<root>${times(2, '<row><求人番号>#</求人番号><職種>調理師</職種><市区町村>札幌市</市区町村><都道府県>北海道</都道府県><郵便番号>060-0001</郵便番号><仕事内容>調理</仕事内容></row>')}</root>`,
    records: '/root/row',
    postings: 2,
    fields: {
      ...{ id: '求人番号', title: '職種', city: '市区町村', state: '都道府県' },
      ...{ postalCode: '郵便番号', description: '仕事内容' },
    },
    first: {
      ...{ id: '1', title: '調理師', city: '札幌市', state: '北海道', postalCode: '060-0001' },
      description: '調理',
    },
  },
  'English, with names that come last': {
    document: `<root>${times(2, '<row><JobNumber>J#</JobNumber><Position>Cook</Position><CityName>Leeds</CityName><ShortDescription>Kitchen</ShortDescription></row>')}</root>`,
    records: '/root/row',
    postings: 2,
    fields: {
      ...{ id: 'JobNumber', title: 'Position', city: 'CityName', description: 'ShortDescription' },
    },
    first: { id: 'J1', title: 'Cook', city: 'Leeds', description: 'Kitchen' },
  },
  'English, with other names that come last': {
    document: `<jobs>${times(2, '<job data-id="9#"><position>3</position><position_title>Cook</position_title><location><text>Leeds</text></location><body>Kitchen</body></job>')}</jobs>`,
    records: '/jobs/job',
    postings: 2,
    fields: {
      ...{ id: '@data-id', title: 'position_title', city: 'location/text', description: 'body' },
    },
    first: { id: '91', title: 'Cook', city: 'Leeds', description: 'Kitchen' },
  },
}

describe('the check finds the path and the number of the postings, and the paths of their fields', () => {
  it.each(Object.entries(FEEDS))(
    'in %s',
    async (_, { document, fields, first, postings, records }) => {
      const content = await contentOf(document)

      const none = { externalCampaignId: null, requisitionId: null, state: null, postalCode: null }
      const found = { id: null, title: null, city: null, description: null, ...none, ...fields }
      expect({ records: content.records, postings: content.postings }).toEqual({
        records,
        postings,
      })
      expect(content.fields).toEqual(found)
      const bySecondOpinion = bySaxes(document, records, found as FoundPaths)
      expect(bySecondOpinion).toHaveLength(postings)
      expect(bySecondOpinion[0]).toEqual(first)
    },
  )

  it('and finds no title in a <position> that has only digits', async () => {
    const job = (position: string) => `<job><id>1</id><position>${position}</position></job>`

    expect((await contentOf(`<jobs>${job('3')}</jobs>`)).fields.title).toBe(null)
    expect((await contentOf(`<jobs>${job('Cook 3')}</jobs>`)).fields.title).toBe('position')
  })
})

describe('the choice of the postings names a runner-up', () => {
  const runnerUpOf = async (document: string) => {
    const { records, runnerUp } = await contentOf(document)
    return { records, runnerUp }
  }

  it('when the postings lie in groups', async () => {
    const item = '<item><id>#</id><title>Cook</title></item>'

    expect(
      await runnerUpOf(
        `<jobs>${times(2, `<category name="C">${times(3, item)}</category>`)}</jobs>`,
      ),
    ).toEqual({
      records: '/jobs/category/item',
      runnerUp: { records: '/jobs/category', postings: 2 },
    })
  })

  it('when two paths on one level are alike', async () => {
    const document = `<feed>${times(3, '<job><id>#</id><title>a</title></job>')}${times(2, '<vacancy><id>#</id><title>a</title></vacancy>')}</feed>`

    expect(await runnerUpOf(document)).toEqual({
      records: '/feed/job',
      runnerUp: { records: '/feed/vacancy', postings: 2 },
    })
  })

  it('when a posting has many parts with titles', async () => {
    const part = '<part><title>Part</title><description>x</description></part>'
    const document = `<list>${times(2, `<gesuch><id>#</id><titel>Koch</titel>${times(3, part)}</gesuch>`)}</list>`

    expect(await runnerUpOf(document)).toEqual({
      records: '/list/gesuch',
      runnerUp: { records: '/list/gesuch/part', postings: 6 },
    })
  })

  it('only if the choice was close, and so never in a usual feed', async () => {
    const job =
      '<job><id>#</id><title>Cook</title><locations><location id="1"><name>Linz</name></location><location id="2"><name>Graz</name></location></locations><similar><job><id>7</id></job><job><id>8</id></job></similar></job>'

    expect(await runnerUpOf(`<jobs>${times(3, job)}</jobs>`)).toEqual({
      records: '/jobs/job',
      runnerUp: null,
    })
  })
})

describe('postings inside of the elements that look like postings at first', () => {
  it('are found though the first of these elements contain no posting', async () => {
    const empty = '<offer><name>Firm</name><jobs/></offer>'
    const full =
      '<offer><name>Firm</name><jobs><job><id>#</id><title>Cook</title></job></jobs></offer>'

    expect(
      await contentOf(`<companies>${empty.repeat(20)}${times(30, full)}</companies>`),
    ).toMatchObject({ records: '/companies/offer/jobs/job', postings: 30 })
  })

  it.each([
    ['companies/offer', '<id>C#</id><name>Firm</name>', 'jobs/job', 2],
    ['response/entry', '', 'jobs/job', 1],
    ['feed/position', '<name>Cook</name>', 'vacancies/vacancy', 1],
    ['feed/position', '<name>Cook</name><id>#</id>', 'vacancies/vacancy', 1],
  ])(
    'are found by their names in %s, though they have no known field',
    async (outer, own, inner, groups) => {
      const [root = '', group = ''] = outer.split('/')
      const [list = '', job = ''] = inner.split('/')
      const jobs = `<${list}>${`<${job}><salary>7</salary><shift>night</shift></${job}>`.repeat(3)}</${list}>`
      const document = `<${root}>${times(groups, `<${group}>${own}${jobs}</${group}>`)}</${root}>`

      expect(await contentOf(document)).toMatchObject({
        records: `/${outer}/${inner}`,
        postings: 3 * groups,
      })
    },
  )

  it('are all counted, also in 700 of these elements', async () => {
    const jobs = times(2, '<job><id>#</id><title>Cook</title></job>')

    expect(
      await contentOf(
        `<companies>${`<offer><name>Firm</name><jobs>${jobs}</jobs></offer>`.repeat(700)}</companies>`,
      ),
    ).toMatchObject({ records: '/companies/offer/jobs/job', postings: 1_400 })
  })
})

// The language of `feeds[].fields`, and the paths that are tried without configuration. A path is relative
// to the record: `city`, `location/city`, `@id`, `Id/@validFrom`, `Tag[@name='City']`.

import type { FieldPaths } from '../domain/mapping.ts'
import { EXIT, FeedsyncError } from '../lib/errors.ts'
import { type PostingWords, wordsFor } from './languages.ts'
import { folded } from './names.ts'

export interface PathStep {
  /** name is a local name, or `prefix:name` to require the prefix. */
  name: string
  condition: { attribute: string; value: string } | null
}

export interface FieldPath {
  steps: readonly PathStep[]
  /**
   * attribute names the attribute that holds the value; null if the text of the element holds the value. `ANY_ID`
   * stands for every name that ends in the word "id", such as `job-id`.
   */
  attribute: string | null
}

/** ANY_ID is not a name of XML, so no attribute can have this name. */
export const ANY_ID = '*-id'

export type Field = keyof FieldPaths

/** FIELDS lists all fields; the position of a field is its number. */
export const FIELDS = [
  ...(['id', 'externalCampaignId', 'requisitionId', 'title'] as const),
  ...(['city', 'state', 'postalCode', 'description'] as const),
] satisfies readonly Field[]

/**
 * CHECKED_FIELDS are read from every posting, so PostingTally can count only these fields. The command `check` shows
 * where the first postings have the other fields.
 */
export const CHECKED_FIELDS: readonly Field[] = ['id', 'externalCampaignId', 'requisitionId']

/**
 * DETECTED lists the paths of each field in order of preference, from feeds of about two hundred vendors. Case,
 * accents, `_` and `-` do not matter. `{record}` is the name of the record element, so `vacancy_id` is found. `@*`
 * stands for an attribute of the record with any of the single names before the `@*`. The words of languages.ts follow.
 */
export const DETECTED: Record<Field, string> = {
  id: `
    referencenumber id @id jobid {record}id jobcode partnerjobid identifier/value identifier
    reference referenceid jobreference @jid DocumentID jobreqid PositionRecordInfo/Id/IdValue @*
    uniquejobid ref jobref jobnumber guid link url detailurl joblink link/@href loc
    PositionPostings/PositionPosting/Id/IdValue @*`,
  externalCampaignId: 'externalcampaignid campaignid @*',
  requisitionId: `
    requisitionid requisitionnumber @reference jobreqid AlternateDocumentID
    PositionPostings/PositionPosting/Id/IdValue @*`,
  title: `
    title jobtitle name jobname PositionProfile/PositionTitle
    PositionProfile/PositionDetail/PositionTitle PositionProfile/ProfileName
    JobPositionInformation/JobPositionTitle positiontitle vacancytitle position @*`,
  city: `
    city location/city locations/location/city town jobLocation/address/addressLocality
    PositionProfile/PositionLocation/ReferenceLocation/CityName
    PositionProfile/PositionLocation/Address/CityName
    PositionProfile/PositionDetail/PhysicalLocation/Area[@type='municipality']/Value
    PositionProfile/PositionDetail/PhysicalLocation/PostalAddress/Municipality
    JobPositionInformation/JobPositionDescription/JobPositionLocation/PostalAddress/Municipality
    JobPositionInformation/JobPositionDescription/JobPositionLocation/LocationSummary/Municipality
    Classification[@name='Location'] Classifications/Classification[@name='Location']
    Listing/Classification[@name='Location'] office location cityname joblocation location/text @*`,
  state: `
    state location/state location/region locations/location/state region region1
    jobLocation/address/addressRegion
    PositionProfile/PositionLocation/ReferenceLocation/CountrySubDivisionCode
    PositionProfile/PositionLocation/Address/CountrySubDivisionCode
    PositionProfile/PositionDetail/PhysicalLocation/Area[@type='x:state']/Value
    PositionProfile/PositionDetail/PhysicalLocation/PostalAddress/Region
    JobPositionInformation/JobPositionDescription/JobPositionLocation/PostalAddress/Region @*`,
  postalCode: `
    postalcode postcode zip zipcode location/zip location/postalcode locations/location/postalcode
    jobLocation/address/postalCode PositionProfile/PositionLocation/ReferenceLocation/PostalCode
    PositionProfile/PositionLocation/Address/PostalCode
    PositionProfile/PositionDetail/PhysicalLocation/PostalAddress/PostalCode
    JobPositionInformation/JobPositionDescription/JobPositionLocation/PostalAddress/PostalCode @*`,
  description: `
    description jobdescription description/summary descriptionrequirements
    jobDescriptions/jobDescription/value PositionProfile/PositionFormattedDescription/Content
    PositionProfile/FormattedPositionDescription/Value
    JobPositionInformation/JobPositionDescription/JobPositionPurpose content summary body
    shortdescription jobadvert @*`,
}

/** ADDRESSES are id paths that hold a URL. */
export const ADDRESSES = new Set([
  'guid',
  'link',
  'url',
  'detailurl',
  'joblink',
  'link/@href',
  'loc',
])

/** MOST_PARSED limits the parsed paths that are kept: feeds choose the names of records, which replace `{record}`. */
const MOST_PARSED = 2_000

const STEP = /^([^\s/@[\]'"=]+)(?:\[@([^\s/@[\]'"=]+)=(?:'([^']*)'|"([^"]*)")\])?$/
const ATTRIBUTE = /^@([^\s/@[\]'"=]+)$/

/** parseFieldPath reads a path in the language of `feeds[].fields`. Throws `FeedsyncError` (78) for any other text. */
export function parseFieldPath(path: string): FieldPath {
  // "/" inside a quoted condition does not separate steps.
  const parts = path.match(/(?:[^/'"]|'[^']*'|"[^"]*")+/g) ?? []
  if (parts.join('/') !== path) throw unreadable(path)
  const attribute = ATTRIBUTE.exec(parts.at(-1) ?? '')?.[1] ?? null
  const steps = (attribute === null ? parts : parts.slice(0, -1)).map((part) => {
    const match = STEP.exec(part)
    const [, name, conditionName, single, double] = match ?? []
    if (name === undefined) throw unreadable(path)
    const value = single ?? double ?? ''
    return {
      name,
      condition: conditionName === undefined ? null : { attribute: conditionName, value },
    }
  })
  if (steps.length === 0 && attribute === null) throw unreadable(path)
  return { steps, attribute }
}

/** PathChoice says which paths of a field are tried in a posting with this local name. */
export interface PathChoice {
  configured: FieldPaths
  record: string
  /**
   * excludedIds are folded paths of detected ids that are not tried, because postings share these ids; null means none.
   */
  excludedIds: ReadonlySet<string> | null
}

/** pathsOf returns the configured path of a field or, without one, the detected paths in order of preference. */
export function pathsOf(
  field: Field,
  { configured, record, excludedIds }: PathChoice,
): FieldPath[] {
  const path = configured[field]
  if (path !== undefined) return [parseFieldPath(path)]
  const texts = detectedPaths(field).map((text) => text.replace('{record}', record))
  const tried =
    field === 'id' && excludedIds !== null
      ? texts.filter((text) => !excludedIds.has(folded(text)))
      : texts
  return tried.map(parsedOnce)
}

const detected = new Map<Field, string[]>()

/** detectedPaths returns all detected paths of a field as texts. It replaces each `@*`, and leaves `{record}`. */
function detectedPaths(field: Field): string[] {
  const known = detected.get(field)
  if (known !== undefined) return known
  const names: string[] = []
  const words = hasWords(field) ? wordsFor(field) : []
  const listed = DETECTED[field].trim().split(/\s+/)
  const texts = [...listed, ...words, '@*'].flatMap((text) => {
    if (text === '@*') return names.map((name) => `@${name}`)
    if (/^[^@/[]+$/.test(text)) names.push(text)
    return [text]
  })
  if (field === 'id') texts.push(`@${ANY_ID}`)
  const paths = [...new Set(texts)]
  detected.set(field, paths)
  return paths
}

const NO_WORDS: readonly Field[] = ['externalCampaignId', 'requisitionId']

function hasWords(field: Field): field is keyof Omit<PostingWords, 'posting'> {
  return !NO_WORDS.includes(field)
}

const parsed = new Map<string, FieldPath>()

/** parsedOnce parses a path and keeps the result, because all feeds have the same paths except for names of records. */
function parsedOnce(text: string): FieldPath {
  const known = parsed.get(text)
  if (known !== undefined) return known
  const path = parseFieldPath(text)
  if (parsed.size < MOST_PARSED) parsed.set(text, path)
  return path
}

function unreadable(path: string): FeedsyncError {
  return new FeedsyncError(`the field path "${path}" cannot be read`, {
    hint: "write it like city, location/city, @id, Id/@validFrom or Classification[@name='Location']",
    exitCode: EXIT.config,
  })
}

// The language of `feeds[].fields`, and the paths that are tried without configuration. A path is relative
// to the record: `city`, `location/city`, `@id`, `Id/@validFrom`, `Tag[@name='City']`.

import { EXIT, FeedsyncError } from '../lib/errors.ts'
import { folded } from './names.ts'
import type { FieldPaths } from './port.ts'

export interface Step {
  /** name is a local name, or `prefix:name` to require the prefix. */
  name: string
  condition: { attribute: string; value: string } | null
}

export interface FieldPath {
  steps: readonly Step[]
  /** attribute holds the value; null: the text of the element holds it. */
  attribute: string | null
}

export type Field = keyof FieldPaths

/** FIELDS lists all fields; the position of a field is its number. */
export const FIELDS = [
  ...(['id', 'externalCampaignId', 'requisitionId', 'title'] as const),
  ...(['city', 'state', 'postalCode', 'description'] as const),
] satisfies readonly Field[]

/**
 * CHECKED_FIELDS are read from every posting, so the tally may count only these. The command `check` shows the others from
 * the first postings.
 */
export const CHECKED_FIELDS: readonly Field[] = ['id', 'externalCampaignId', 'requisitionId']

/**
 * DETECTED lists the paths of each field in order of preference, from feeds of about a hundred vendors. Case, `_` and
 * `-` do not matter. `{record}` is the name of the record element, so `vacancy_id` is found. `@*` stands for an
 * attribute of the record with any of the single names before it.
 */
export const DETECTED: Record<Field, string> = {
  id: `
    referencenumber id @id jobid {record}id jobcode partnerjobid identifier/value identifier
    reference referenceid jobreference @jid DocumentID jobreqid PositionRecordInfo/Id/IdValue @*
    guid link url detailurl link/@href loc PositionPostings/PositionPosting/Id/IdValue @*`,
  externalCampaignId: 'externalcampaignid campaignid @*',
  requisitionId: `
    requisitionid requisitionnumber @reference jobreqid AlternateDocumentID
    PositionPostings/PositionPosting/Id/IdValue @*`,
  title: `
    title jobtitle name jobname PositionProfile/PositionTitle
    PositionProfile/PositionDetail/PositionTitle PositionProfile/ProfileName @*`,
  city: `
    city location/city locations/location/city town jobLocation/address/addressLocality
    PositionProfile/PositionLocation/ReferenceLocation/CityName
    PositionProfile/PositionLocation/Address/CityName
    PositionProfile/PositionDetail/PhysicalLocation/Area[@type='municipality']/Value
    PositionProfile/PositionDetail/PhysicalLocation/PostalAddress/Municipality
    Classification[@name='Location'] Classifications/Classification[@name='Location']
    Listing/Classification[@name='Location'] office location @*`,
  state: `
    state location/state location/region locations/location/state region region1
    jobLocation/address/addressRegion
    PositionProfile/PositionLocation/ReferenceLocation/CountrySubDivisionCode
    PositionProfile/PositionLocation/Address/CountrySubDivisionCode
    PositionProfile/PositionDetail/PhysicalLocation/Area[@type='x:state']/Value
    PositionProfile/PositionDetail/PhysicalLocation/PostalAddress/Region @*`,
  postalCode: `
    postalcode postcode zip zipcode location/zip location/postalcode locations/location/postalcode
    jobLocation/address/postalCode PositionProfile/PositionLocation/ReferenceLocation/PostalCode
    PositionProfile/PositionLocation/Address/PostalCode
    PositionProfile/PositionDetail/PhysicalLocation/PostalAddress/PostalCode @*`,
  description: `
    description jobdescription description/summary descriptionrequirements
    jobDescriptions/jobDescription/value PositionProfile/PositionFormattedDescription/Content
    PositionProfile/FormattedPositionDescription/Value content summary @*`,
}

/** ADDRESSES are id paths that hold a URL; a feed may use one URL for all its postings. */
const ADDRESSES = new Set(['guid', 'link', 'url', 'detailurl', 'link/@href', 'loc'])

const STEP = /^([^\s/@[\]'"=]+)(?:\[@([^\s/@[\]'"=]+)=(?:'([^']*)'|"([^"]*)")\])?$/
const ATTRIBUTE = /^@([^\s/@[\]'"=]+)$/

/** parseFieldPath reads a path in the language above. Throws `FeedsyncError` for any other text. */
export function parseFieldPath(path: string): FieldPath {
  // "/" inside a quoted condition does not separate steps.
  const parts = path.match(/(?:[^/'"]|'[^']*'|"[^"]*")+/g) ?? []
  if (parts.join('/') !== path) throw unreadable(path)
  const attribute = ATTRIBUTE.exec(parts.at(-1) ?? '')?.[1] ?? null
  const steps = (attribute === null ? parts : parts.slice(0, -1)).map((part) => {
    const match = STEP.exec(part)
    const [, name, of, single, double] = match ?? []
    if (name === undefined) throw unreadable(path)
    return {
      name,
      condition: of === undefined ? null : { attribute: of, value: single ?? double ?? '' },
    }
  })
  if (steps.length === 0 && attribute === null) throw unreadable(path)
  return { steps, attribute }
}

/** pathsOf returns the configured path of a field, or else the detected ones in order of preference. */
export function pathsOf(field: Field, configured: FieldPaths, record: string): FieldPath[] {
  const path = configured[field]
  if (path !== undefined) return [parseFieldPath(path)]
  const names: string[] = []
  return DETECTED[field]
    .replaceAll('{record}', record)
    .trim()
    .split(/\s+/)
    .flatMap((detected) => {
      if (detected === '@*') return names.map((attribute) => ({ steps: [], attribute }))
      if (/^[^@/[]+$/.test(detected)) names.push(detected)
      return [parseFieldPath(detected)]
    })
}

/** isAddress returns true for an id path that holds a URL, in any spelling. */
export function isAddress(path: string): boolean {
  return ADDRESSES.has(folded(path).replace(/^@/, ''))
}

function unreadable(path: string): FeedsyncError {
  return new FeedsyncError(`the field path "${path}" cannot be read`, {
    hint: "write it like city, location/city, @id, Id/@validFrom or Classification[@name='Location']",
    exitCode: EXIT.config,
  })
}

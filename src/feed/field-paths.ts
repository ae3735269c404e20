// The language of `feeds[].fields`, and where fields are found without configuration. A path is
// relative to the record: `city`, `location/city`, `@id`, `Id/@validFrom`, `Tag[@name='City']`.

import { EXIT, FeedsyncError } from '../lib/errors.ts'
import type { FieldPaths } from './port.ts'

export interface Step {
  /** Local name, or `prefix:name` to ask for the prefix too. */
  name: string
  condition: { attribute: string; value: string } | null
}

export interface FieldPath {
  steps: readonly Step[]
  /** The value is this attribute of the element; null: its text. */
  attribute: string | null
}

export type Field = keyof FieldPaths

/** All fields: the order gives each its number. */
export const FIELDS = [
  ...(['id', 'externalCampaignId', 'requisitionId', 'title'] as const),
  ...(['city', 'state', 'postalCode', 'description'] as const),
] satisfies readonly Field[]

/** The fields that the check itself needs. */
export const CHECKED_FIELDS: readonly Field[] = ['id', 'externalCampaignId', 'requisitionId']

/** In order of preference. Taken from 33 feed formats and 72 real and sample feeds. */
const DETECTED: Record<Field, string> = {
  id: `
    referencenumber id @id jobid job_id job-code partnerJobId identifier/value identifier
    reference reference_id job_reference @reference_id @jid DocumentID
    PositionRecordInfo/Id/IdValue guid link url detail-url link/@href`,
  externalCampaignId: `
    externalcampaignid external_campaign_id external-campaign-id campaignid campaign_id
    campaign-id`,
  requisitionId: `
    requisitionid requisition_id requisition-id requisitionnumber @reference AlternateDocumentID
    PositionPostings/PositionPosting/Id/IdValue`,
  title: `
    title job_title jobtitle name job_name PositionProfile/PositionTitle
    PositionProfile/PositionDetail/PositionTitle`,
  city: `
    city location/city town jobLocation/address/addressLocality
    PositionProfile/PositionLocation/ReferenceLocation/CityName
    PositionProfile/PositionDetail/PhysicalLocation/PostalAddress/Municipality office location`,
  state: `
    state location/state location/region region region1 jobLocation/address/addressRegion
    PositionProfile/PositionLocation/ReferenceLocation/CountrySubDivisionCode
    PositionProfile/PositionDetail/PhysicalLocation/PostalAddress/Region`,
  postalCode: `
    postalcode postal_code postcode zip zipcode zip_code location/zip location/postalcode
    jobLocation/address/postalCode PositionProfile/PositionLocation/ReferenceLocation/PostalCode
    PositionProfile/PositionDetail/PhysicalLocation/PostalAddress/PostalCode`,
  description: `
    description job_description jobdescription description/summary description_requirements
    jobDescriptions/jobDescription/value PositionProfile/PositionFormattedDescription/Content
    PositionProfile/FormattedPositionDescription/Value content summary`,
}

const STEP = /^([^\s/@[\]'"=]+)(?:\[@([^\s/@[\]'"=]+)=(?:'([^']*)'|"([^"]*)")\])?$/
const ATTRIBUTE = /^@([^\s/@[\]'"=]+)$/

/** Throws `FeedsyncError` when the path is not written as the header describes. */
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

/** The paths of a field in order of preference: the configured one, else the detected ones. */
export function pathsOf(field: Field, configured: FieldPaths): FieldPath[] {
  const path = configured[field]
  if (path !== undefined) return [parseFieldPath(path)]
  const paths = parsed.get(field) ?? DETECTED[field].trim().split(/\s+/).map(parseFieldPath)
  parsed.set(field, paths)
  return paths
}

/** The detected ones, which every feed asks for. */
const parsed = new Map<Field, FieldPath[]>()

function unreadable(path: string): FeedsyncError {
  return new FeedsyncError(`the field path "${path}" cannot be read`, {
    hint: "Write it like city, location/city, @id, Id/@validFrom or Classification[@name='Location'].",
    exitCode: EXIT.config,
  })
}

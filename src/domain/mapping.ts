// Where the fields of a posting are in a feed.

/** FieldPaths are paths from the record element (`location/city`, `@id`); field-paths.ts defines the language. */
export interface FieldPaths {
  id?: string
  externalCampaignId?: string
  requisitionId?: string
  title?: string
  city?: string
  state?: string
  postalCode?: string
  description?: string
}

export interface Mapping {
  /** encoding replaces the encoding that the document declares; null means the declared encoding. */
  encoding: string | null
  /** Full path of the record element (`/source/job`), or null to detect it. */
  records: string | null
  /** A field without a path here is detected. */
  fields: FieldPaths
}

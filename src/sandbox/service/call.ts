// A call of the service, as it arrives from a client.

export interface CallHeaders {
  /** header returns the value of a header of the request, or null. The name can have any case. */
  header(name: string): string | null
}

export interface ArrivedCall extends CallHeaders {
  method: string
  /** path is as sent, without query, and relative to the base address. A path outside the base address becomes `/`. */
  path: string
  /** query is as sent, without its question mark. */
  query: string
  body: Buffer
  /** url is the full address of the request. */
  url: string
  /** now is the service's wall clock in ms. */
  now: number
  /** elapsed returns whole ms since the request arrived. */
  elapsed(): number
}

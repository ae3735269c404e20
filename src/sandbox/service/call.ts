// A call of the service, as it arrives from a client.

export interface CallHeaders {
  /** header returns a header of the request, or null. */
  header(name: string): string | null
}

export interface ArrivedCall extends CallHeaders {
  method: string
  /** path is raw, relative to the base address, and has no query; `/` outside of the base address. */
  path: string
  /** query is raw, without its question mark. */
  query: string
  body: Buffer
  /** url is the full address of the request. */
  url: string
  /** now is the service's wall clock in ms. */
  now: number
  /** elapsed returns whole ms since the request arrived. */
  elapsed(): number
}

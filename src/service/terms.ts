// Words of the specification that the configuration may use and the service client must understand. The sandbox has a
// list of its own.

export const SIGNATURE_ALGORITHMS = [
  'hmac-sha1',
  'hmac-sha256',
  'hmac-sha512',
  'rsa-sha1',
  'rsa-sha256',
  'rsa-sha512',
  'rsa-pss-sha256',
  'ecdsa-p256-sha256',
  'ed25519',
] as const

export type SignatureAlgorithm = (typeof SIGNATURE_ALGORITHMS)[number]

/** What `stringToSign` can name. */
export const SIGN_FIELDS = [
  'method',
  'path',
  'query',
  'body',
  'date',
  'host',
  'url',
  'account',
  'partner',
  'partnerAccount',
] as const

export type SignField = (typeof SIGN_FIELDS)[number]

/** The one route that hands out forms to a partner without a partner account. */
export const isBulkRoute = (path: string): boolean => path.includes('bulk')

// Words of the specification that the configuration may use and the service client must understand. The sandbox has its
// own list.

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

/** The names that `stringToSign` may contain. */
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

/** isBulkRoute returns whether a path is the only route that gives forms to a partner without a partner account. */
export const isBulkRoute = (path: string): boolean => path.includes('bulk')

/** Identity is one of the two identities of specification section 5. */
export type Identity = { account: string } | { partner: string; partnerAccount?: string | null }

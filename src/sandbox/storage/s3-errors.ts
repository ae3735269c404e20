// This file has the status and the message of each error of the storage, from S3's public list of errors and from
// recorded answers of S3.

export const ERRORS = {
  AccessDenied: [403, 'Access Denied'],
  BadDigest: [400, 'The Content-MD5 you specified did not match what we received.'],
  EntityTooLarge: [400, 'Your proposed upload exceeds the maximum allowed size'],
  EntityTooSmall: [400, 'Your proposed upload is smaller than the minimum allowed size'],
  ExpiredToken: [400, 'The provided token has expired.'],
  IncompleteBody: [
    400,
    'You did not provide the number of bytes specified by the Content-Length HTTP header.',
  ],
  IncorrectNumberOfFilesInPostRequest: [400, 'POST requires exactly one file upload per request.'],
  InsufficientStorage: [507, 'The disk of the storage is full or cannot be written.'],
  InternalError: [500, 'We encountered an internal error. Please try again.'],
  InvalidAccessKeyId: [403, 'The access key Id you provided does not exist in our records.'],
  InvalidArgument: [400, 'Invalid Argument'],
  InvalidDigest: [400, 'The Content-MD5 you specified is not valid.'],
  InvalidPolicyDocument: [400, 'Invalid Policy: Invalid JSON.'],
  InvalidRequest: [400, 'Invalid Request'],
  InvalidToken: [400, 'The provided token is malformed or otherwise invalid.'],
  KeyTooLongError: [400, 'Your key is too long'],
  MalformedPOSTRequest: [
    400,
    'The body of your POST request is not well-formed multipart/form-data.',
  ],
  MaxMessageLengthExceeded: [400, 'Your request was too big.'],
  MaxPostPreDataLengthExceededError: [
    400,
    'Your POST request fields preceding the upload file were too large.',
  ],
  MethodNotAllowed: [405, 'The specified method is not allowed against this resource.'],
  MissingContentLength: [411, 'You must provide the Content-Length HTTP header.'],
  NoSuchKey: [404, 'The specified key does not exist.'],
  NoSuchBucket: [404, 'The specified bucket does not exist'],
  NotImplemented: [501, 'A header you provided implies functionality that is not implemented'],
  OperationAborted: [
    409,
    'A conflicting conditional operation is currently in progress against this resource. Try again.',
  ],
  PermanentRedirect: [
    301,
    'The bucket you are attempting to access must be addressed using the specified endpoint. Please send all future requests to this endpoint.',
  ],
  PreconditionFailed: [412, 'At least one of the pre-conditions you specified did not hold'],
  RequestTimeTooSkewed: [
    403,
    'The difference between the request time and the current time is too large.',
  ],
  RequestTimeout: [
    400,
    'Your socket connection to the server was not read from or written to within the timeout period. Idle connections will be closed.',
  ],
  ServiceUnavailable: [503, 'Service is unable to handle request.'],
  SignatureDoesNotMatch: [
    403,
    'The request signature we calculated does not match the signature you provided. Check your key and signing method.',
  ],
  SlowDown: [503, 'Please reduce your request rate.'],
  TemporaryRedirect: [
    307,
    'Please re-send this request to the specified temporary endpoint. Continue to use the original request endpoint for future requests.',
  ],
  TokenRefreshRequired: [400, 'The provided token must be refreshed.'],
  UserKeyMustBeSpecified: [
    400,
    'The bucket POST must contain the specified field name. If it is specified, please check the order of the fields.',
  ],
} as const satisfies Record<string, readonly [status: number, message: string]>

type S3Code = keyof typeof ERRORS

export interface S3Error {
  code: S3Code
  /** message is by default the message of the code in `ERRORS`. */
  message?: string | undefined
  /** details are further elements of the body, such as `ProposedSize`. */
  details?: Record<string, string> | undefined
  headers?: Record<string, string> | undefined
}

export const S3_CODES = Object.keys(ERRORS) as S3Code[]

// The configuration file: every key, its default, its limits and one sentence about it. The example file, the
// JSON Schema and the help all follow from here.

import { z } from 'zod'
import { ENCODINGS } from '../feed/encodings.ts'
import { DAY, SECOND } from '../lib/clock.ts'
import { LOG_LEVELS } from '../lib/log.ts'
import { ALERT_EVENTS } from '../ops/alert-events.ts'
import { SIGN_FIELDS, SIGNATURE_ALGORITHMS } from '../service/terms.ts'
import {
  address,
  duration,
  flag,
  headerText,
  list,
  listen,
  listing,
  matching,
  oneOf,
  optionalSection,
  path,
  percent,
  rate,
  section,
  text,
  wholeNumber,
} from './values.ts'

function unknownSignField(template: string): string | null {
  const names = [...template.matchAll(/\{(\w+)\}/g)].map((found) => found[1] ?? '')
  return names.find((name) => !SIGN_FIELDS.some((known) => known === name)) ?? null
}

const service = section({
  baseUrl: address()
    .refine((url) => !/[?#]/.test(url), 'must not have a query or a fragment')
    .describe(
      'Address of the service, with its path prefix if it has one. https: only; http: is allowed for loopback.',
    ),
  account: headerText()
    .optional()
    .describe('Account identifier issued by the service. Either this or partner.'),
  partner: headerText()
    .optional()
    .describe('Partner key issued by the service. Either this or account.'),
  partnerAccount: headerText()
    .optional()
    .describe(
      'The account that a partner acts for. A rule in feeds may name another; the bulk route needs none.',
    ),
  headerPrefix: matching(/^[A-Za-z][A-Za-z0-9-]*$/, 'expected a header prefix such as X-SVC-')
    .prefault('X-SVC-')
    .describe("Beginning of the names of the service's headers."),
  presignPath: matching(/^\/[!-~]*$/, 'expected a path that begins with /')
    .regex(/^[^?#]*$/, 'must not have a query or a fragment')
    .prefault('/v1/presigned-storage-posting-post')
    .describe('Route that hands out upload forms, relative to baseUrl.'),
  auth: optionalSection('How requests prove who sends them.', {
    method: oneOf(['signature', 'apiKey'])
      .prefault('signature')
      .describe('Sign each request, or send the key itself in a header.'),
    algorithm: oneOf(SIGNATURE_ALGORITHMS)
      .prefault('hmac-sha1')
      .describe('Algorithm of the signature.'),
    keyFile: path()
      .optional()
      .describe(
        'File with the secret or the PEM private key. Default: service-key in $CREDENTIALS_DIRECTORY (systemd), else service.key. One newline at its end is dropped.',
      ),
    stringToSign: z
      .string('expected a template such as {method}{path}{date}')
      .min(1, 'must not be empty')
      .refine((template) => unknownSignField(template) === null, {
        error: ({ input }) =>
          `names {${unknownSignField(String(input))}}, which does not exist; it can name ${listing(SIGN_FIELDS)}`,
      })
      .prefault('{method}{path}?{query};{body};{date}')
      .describe(
        'What is signed. {method}, {path}, {query}, {body}, {date}, {host}, {url}, {account}, {partner} and {partnerAccount} are filled in.',
      ),
  }),
}).describe('The sponsorship service.')

const inbox = optionalSection('The folder that is watched.', {
  directory: path().prefault('./inbox').describe('The folder that feeds are dropped into.'),
  include: list(text(), 'expected a list of patterns')
    .prefault(['**/*.xml', '**/*.xml.gz'])
    .describe(
      'Patterns of the paths that are feeds, relative to the folder; an extension matches in any case.',
    ),
  exclude: list(text(), 'expected a list of patterns')
    .prefault([])
    .describe('Patterns that are ignored, in addition to the built-in list of temporary names.'),
  rescan: duration(SECOND)
    .prefault('30s')
    .describe('How often the whole folder is listed, events or not. At least 1s.'),
  quietPeriod: duration(100)
    .prefault('1s')
    .describe('How long a file must stay unchanged before it is read. At least 100ms.'),
  incompleteAfter: duration(SECOND)
    .prefault('15m')
    .describe(
      'How long a feed that ends early may take to grow before it is rejected, and how long run --once waits for files that are being written.',
    ),
  afterUpload: oneOf(['keep', 'archive', 'delete'])
    .prefault('keep')
    .describe('What happens to a file once storage has confirmed it.'),
  afterReject: oneOf(['keep', 'quarantine'])
    .prefault('keep')
    .describe(
      'What happens to a rejected or discarded file that is left alone for incompleteAfter.',
    ),
  archiveDirectory: path()
    .optional()
    .describe(
      'Where afterUpload: archive moves files. Outside the folder of feeds; default: archive in state.directory.',
    ),
  quarantineDirectory: path()
    .optional()
    .describe(
      'Where afterReject: quarantine moves files. Outside the folder of feeds; default: quarantine in state.directory.',
    ),
  receipts: flag()
    .prefault(false)
    .describe('Write <name>.receipt.json beside each feed, for people who only have SFTP.'),
})

const fieldPath = (what: string) => text().exactOptional().describe(`Path of ${what} in a posting.`)

const feed = section({
  match: text().describe(
    'Pattern of paths relative to the folder. {1} matches one path segment and captures it; * and ** capture nothing.',
  ),
  name: text()
    .optional()
    .describe(
      'Name of the feed; {1} is filled in. Default: its path, with {date} for a date in the name of the file.',
    ),
  dated: flag()
    .prefault(true)
    .describe(
      'Without name: files whose names differ by a date alone are one feed. false: each is a feed of its own.',
    ),
  partnerAccount: headerText()
    .optional()
    .describe('Account that these feeds are uploaded for; {1} is filled in.'),
  encoding: oneOf(ENCODINGS)
    .optional()
    .describe('Encoding of these feeds, in place of what they declare. Default: as declared.'),
  records: matching(/^(\/[^/\s]+)+$/, 'expected a path such as /source/job')
    .optional()
    .describe('Path of the element that is one posting. Default: detected.'),
  fields: optionalSection('Where the fields stand, from the posting element. Default: detected.', {
    id: fieldPath("the posting's id"),
    externalCampaignId: fieldPath('the external campaign id'),
    requisitionId: fieldPath('the requisition id'),
    title: fieldPath('the job title'),
    city: fieldPath('the city'),
    state: fieldPath('the state or province'),
    postalCode: fieldPath('the postal code'),
    description: fieldPath('the job description'),
  }),
  expectEvery: duration(SECOND)
    .optional()
    .describe('The feed is overdue, and alerts, when nothing of it came for this long.'),
})

const alert = section({
  on: list(oneOf(ALERT_EVENTS), 'expected a list of events')
    .refine((events) => events.length > 0, 'name at least one event')
    .describe('What is reported.'),
  exec: z
    .array(text(), 'expected a list: the program and its arguments')
    .min(1, 'name the program')
    .optional()
    .describe('Program and arguments to run. Either this or webhook.'),
  webhook: address()
    .optional()
    .describe('Address that the alert is posted to as JSON. https: only; http: for loopback.'),
  secretFile: path()
    .optional()
    .describe('File with the secret that signs what is posted to the webhook.'),
})

export const configSchema = section({
  version: z
    .literal(1, 'this feedsyncd reads version 1')
    .prefault(1)
    .describe('Version of this file format.'),
  service,
  inbox,
  feeds: list(feed, 'expected a list of rules, each beginning with "- match:"')
    .prefault([])
    .describe('Rules for feeds; the first that matches a path wins.'),
  guards: optionalSection('When a well-formed feed is held.', {
    maxDropPercent: percent()
      .prefault(50)
      .describe(
        'A feed that loses this share of its postings, of those with an id, or of those that differ, or more, is held for a person.',
      ),
    minPostings: wholeNumber(0)
      .prefault(1)
      .describe('A feed with fewer postings is held for a person.'),
  }),
  upload: optionalSection('How feeds are sent.', {
    concurrency: wholeNumber(1, 64).prefault(4).describe('Uploads at a time.'),
    keepVersions: wholeNumber(0)
      .prefault(3)
      .describe('Uploaded versions of each feed that are kept for restore.'),
    maxRate: rate()
      .prefault('')
      .describe('Bandwidth of all uploads together, a second, e.g. 5MiB. Empty: no limit.'),
  }),
  campaigns: optionalSection('Keeps the targeting of campaigns in line with a file.', {
    file: path()
      .optional()
      .describe('The desired campaigns. Default: campaigns.yaml, if there is one.'),
    mode: oneOf(['targeting', 'report'])
      .prefault('targeting')
      .describe(
        'Keep the targeting of campaigns in line with the file, or only report what differs.',
      ),
  }),
  state: optionalSection('What the daemon remembers.', {
    directory: path().prefault('./state').describe('Where the history and the spool live.'),
    historyFor: duration(DAY)
      .prefault('400d')
      .describe('How long the history is kept. At least 1d.'),
    expectHistory: flag()
      .prefault(false)
      .describe('Do not start without a history: for a host that takes over from another one.'),
  }),
  http: optionalSection('The health and metrics endpoint.', {
    listen: listen()
      .prefault('')
      .describe('Health and metrics: 127.0.0.1:9464 or the path of a unix socket. Empty: off.'),
  }),
  alerts: list(alert, 'expected a list of alerts, each beginning with "- on:"')
    .prefault([])
    .describe('Where to report what needs attention.'),
  log: optionalSection('The log on stdout.', {
    level: oneOf(LOG_LEVELS).prefault('info').describe('Least level that is logged.'),
    format: oneOf(['auto', 'json', 'text'])
      .prefault('auto')
      .describe('auto is text on a terminal and JSON elsewhere.'),
  }),
})

/** The JSON Schema of a block, as far as it is looked at here. */
export interface JsonSchema {
  description?: string
  properties?: Record<string, JsonSchema>
  items?: JsonSchema
  default?: unknown
  [keyword: string]: unknown
}

/**
 * The JSON Schema of the file, for editors: draft 7 is what those of YAML know best. It knows single values; what keys
 * must satisfy together only the program checks (rules.ts).
 */
export function configJsonSchema(): JsonSchema {
  const { $schema, ...schema } = z.toJSONSchema(configSchema, { target: 'draft-7', io: 'input' })
  return { $schema, title: 'feedsyncd configuration', ...schema } as JsonSchema
}

/** The file as written, checked and with defaults, before paths are made absolute. */
export type ConfigFile = z.output<typeof configSchema>

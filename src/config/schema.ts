// The configuration file: every key with its default, its limits and one sentence for people. The JSON Schema and the
// manual page are made from this file.

import { z } from 'zod'
import { ALERT_EVENTS } from '../domain/alerts.ts'
import { SIGN_FIELDS, SIGNATURE_ALGORITHMS } from '../domain/service-words.ts'
import { DAY, SECOND } from '../lib/clock.ts'
import { LOG_LEVELS } from '../lib/log.ts'
import type { JsonSchema } from '../lib/yaml-problems.ts'
import { ENCODINGS } from './encodings.ts'
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
    .describe('Account identifier issued by the service. Set either this or partner.'),
  partner: headerText()
    .optional()
    .describe('Partner key issued by the service. Set either this or account.'),
  partnerAccount: headerText()
    .optional()
    .describe(
      'Account for which a partner acts. A rule in feeds can name another; the bulk route needs none.',
    ),
  headerPrefix: matching(/^[A-Za-z][A-Za-z0-9-]*$/, 'expected a header prefix such as X-SVC-')
    .prefault('X-SVC-')
    .describe('Prefix of the names of the headers for the service.'),
  presignPath: matching(/^\/[!-~]*$/, 'expected a path that begins with /')
    .regex(/^[^?#]*$/, 'must not have a query or a fragment')
    .prefault('/v1/presigned-storage-posting-post')
    .describe('Route for upload forms, relative to baseUrl.'),
  auth: optionalSection('How requests prove their sender.', {
    method: oneOf(['signature', 'apiKey'])
      .prefault('signature')
      .describe('signature signs each request; apiKey sends the key itself in a header.'),
    algorithm: oneOf(SIGNATURE_ALGORITHMS)
      .prefault('hmac-sha1')
      .describe('Algorithm of the signature.'),
    keyFile: path()
      .optional()
      .describe(
        'File with the secret or the PEM private key. Default: service-key in $CREDENTIALS_DIRECTORY (systemd), else service.key. One newline at its end is ignored.',
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
        'Template of the signed text. Names: {method}, {path}, {query}, {body}, {date}, {host}, {url}, {account}, {partner} and {partnerAccount}.',
      ),
  }),
}).describe('The sponsorship service.')

const inbox = optionalSection('The watched folder.', {
  directory: path()
    .prefault('./inbox')
    .describe('Folder into which people and programs drop feeds.'),
  include: list(text(), 'expected a list of patterns')
    .prefault(['**/*.xml', '**/*.xml.gz'])
    .describe(
      'Patterns of the paths that are feeds, relative to the folder. An extension matches in any case.',
    ),
  exclude: list(text(), 'expected a list of patterns')
    .prefault([])
    .describe('Patterns of paths to ignore, in addition to the built-in list of temporary names.'),
  rescan: duration(SECOND)
    .prefault('30s')
    .describe('How often the whole folder is listed, with or without events. At least 1s.'),
  quietPeriod: duration(100)
    .prefault('1s')
    .describe('How long a file must stay unchanged before it is read. At least 100ms.'),
  incompleteAfter: duration(SECOND)
    .prefault('15m')
    .describe(
      'How long a feed that ends early can stay incomplete before it is rejected, and how long run --once waits for files that are being written.',
    ),
  afterUpload: oneOf(['keep', 'archive', 'delete'])
    .prefault('keep')
    .describe('What happens to a file after storage confirmed it.'),
  afterReject: oneOf(['keep', 'quarantine'])
    .prefault('keep')
    .describe(
      'What happens to a rejected or discarded file that has not changed for incompleteAfter.',
    ),
  archiveDirectory: path()
    .optional()
    .describe(
      'Folder for files with afterUpload: archive. It must lie outside the inbox. Default: archive in state.directory.',
    ),
  quarantineDirectory: path()
    .optional()
    .describe(
      'Folder for files with afterReject: quarantine. It must lie outside the inbox. Default: quarantine in state.directory.',
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
      'Name of the feed; {1} is replaced by the captured segment. Default: its path, with {date} for a date in the file name.',
    ),
  dated: flag()
    .prefault(true)
    .describe(
      'For a rule without name. true: files whose names differ only by a date are one feed. false: each file is its own feed.',
    ),
  partnerAccount: headerText()
    .optional()
    .describe(
      'Account for which these feeds are uploaded; {1} is replaced by the captured segment.',
    ),
  encoding: oneOf(ENCODINGS)
    .optional()
    .describe('Encoding of these feeds. It replaces the declared one. Default: as declared.'),
  records: matching(/^(\/[^/\s]+)+$/, 'expected a path such as /source/job')
    .optional()
    .describe('Path of the element that is one posting. Default: detected.'),
  fields: optionalSection('Paths of the fields, relative to the posting. Default: detected.', {
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
    .describe('If no version of the feed came for this long, it is overdue and an alert is sent.'),
})

const alert = section({
  on: list(oneOf(ALERT_EVENTS), 'expected a list of events')
    .refine((events) => events.length > 0, 'name at least one event')
    .describe('Events that this alert reports.'),
  exec: z
    .array(text(), 'expected a list: the program and its arguments')
    .min(1, 'name the program')
    .optional()
    .describe('Program and arguments to run. Set either this or webhook.'),
  webhook: address()
    .optional()
    .describe('Address to which the alert is posted as JSON. https: only; http: for loopback.'),
  secretFile: path()
    .optional()
    .describe('File with the secret that signs the requests to the webhook.'),
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
    .describe('Rules for feeds. The first rule that matches a path wins.'),
  guards: optionalSection('When a well-formed feed is held.', {
    maxDropPercent: percent()
      .prefault(50)
      .describe(
        'A feed is held for a person if it loses at least this percentage of its postings, of its postings with an id, or of its different postings.',
      ),
    minPostings: wholeNumber(0)
      .prefault(1)
      .describe('A feed with fewer postings is held for a person.'),
    secondFeed: oneOf(['hold', 'pass'])
      .prefault('hold')
      .describe(
        'hold: a further feed of an account waits until a person says that the service keeps all feeds of the account. pass: the service is known to keep all.',
      ),
  }),
  upload: optionalSection('How feeds are sent.', {
    concurrency: wholeNumber(1, 64).prefault(4).describe('Number of uploads at the same time.'),
    keepVersions: wholeNumber(0)
      .prefault(3)
      .describe('Number of uploaded versions of each feed that are kept for restore.'),
    maxRate: rate()
      .prefault('')
      .describe('Bandwidth of all uploads together per second, such as 5MiB. Empty: no limit.'),
  }),
  campaigns: optionalSection('Keeps the targeting of campaigns in line with a file.', {
    file: path()
      .optional()
      .describe('File with the desired campaigns. Default: campaigns.yaml, if it exists.'),
    mode: oneOf(['targeting', 'report'])
      .prefault('targeting')
      .describe(
        'targeting keeps the targeting of campaigns in line with the file; report only reports differences.',
      ),
  }),
  state: optionalSection('The stored state of the daemon.', {
    directory: path().prefault('./state').describe('Folder of the history and the spool.'),
    historyFor: duration(DAY)
      .prefault('400d')
      .describe('How long the history is kept. At least 1d.'),
    expectHistory: flag()
      .prefault(false)
      .describe(
        'true: do not start without a history, for a host that takes over from another host.',
      ),
  }),
  http: optionalSection('The health and metrics endpoint.', {
    listen: listen()
      .prefault('')
      .describe('Health and metrics: 127.0.0.1:9464 or the path of a unix socket. Empty: off.'),
  }),
  alerts: list(alert, 'expected a list of alerts, each beginning with "- on:"')
    .prefault([])
    .describe('Alerts: the events to report, and where to report them.'),
  log: optionalSection('The log on stdout.', {
    level: oneOf(LOG_LEVELS).prefault('info').describe('Lowest level that is logged.'),
    format: oneOf(['auto', 'json', 'text'])
      .prefault('auto')
      .describe('auto writes text on a terminal and JSON elsewhere.'),
  }),
})

/**
 * configJsonSchema returns the JSON Schema of the file, as draft 7, which YAML editors support best. It checks single
 * values; only the program checks rules for several keys together (rules.ts).
 */
export function configJsonSchema(): JsonSchema {
  const { $schema, ...schema } = z.toJSONSchema(configSchema, { target: 'draft-7', io: 'input' })
  return { $schema, title: 'feedsyncd configuration', ...schema } as JsonSchema
}

/** ConfigFile is the checked file with defaults, before `resolveConfig`. */
export type ConfigFile = z.output<typeof configSchema>

import { describe, expect, it } from 'vitest'
import { configAdvice } from '../../../src/config/advice.ts'
import type { Config } from '../../../src/config/config.ts'
import { resolveConfig } from '../../../src/config/resolve.ts'
import { configSchema } from '../../../src/config/schema.ts'

function advice(over: object): string[] {
  const service = { baseUrl: 'https://api.example.com', account: '123' }
  const inbox = { directory: './inbox' }
  const least = { version: 1, service, inbox, state: { directory: './state' }, ...over }
  const config: Config = resolveConfig(configSchema.parse(least), '/srv/feedsyncd', {})
  return configAdvice(config)
}

const rules = (...matches: string[]) => ({ feeds: matches.map((match) => ({ match })) })

describe('the advice about a configuration', () => {
  it('is silent about the defaults and about rules that can match', () => {
    expect(advice({})).toEqual([])
    expect(advice(rules('acme/*.xml', '{1}/*.xml', '{1}/jobs-{2}.xml.gz', '*.xml'))).toEqual([])
  })

  it('names a page that other hosts can reach, and not a page on loopback', () => {
    expect(advice({ http: { listen: '127.0.0.1:9464' } })).toEqual([])
    expect(advice({ http: { listen: '0.0.0.0:9464' } })).toEqual([
      expect.stringMatching(/^http\.listen: 0\.0\.0\.0:9464 is open to other hosts.* no login/),
    ])
  })

  it('names an inbox inside the state', () => {
    expect(advice({ inbox: { directory: './state/inbox' } })).toEqual([
      expect.stringMatching(/^inbox\.directory: .*state\/inbox lies inside state\.directory/),
    ])
  })

  it.each([
    [
      ['**/*.xml', 'acme/*.xml'],
      /^feeds\[1\]\.match: "acme\/\*\.xml" can never match: the rule "\*\*\/\*\.xml" above it/,
    ],
    [
      ['{1}/*.xml', '{1}/*.xml'],
      /^feeds\[1\]\.match: .* the rule "\{1\}\/\*\.xml" above it takes all such files$/,
    ],
    [['exports/*.json'], /^feeds\[0\]\.match: "exports\/\*\.json" can never match: inbox\.include/],
  ])('names a rule that can never match: %j', (matches, says) => {
    expect(advice(rules(...matches))).toEqual([expect.stringMatching(says)])
  })
})

// Reads NO_PROXY: the hosts that are reached without the proxy. No standard says what an entry may be, and curl, Go and
// Python differ. An entry here is a name, an address or a network. proxy-from-env, which most programs for Node use,
// knows no networks.

import { BlockList, isIP } from 'node:net'
import { domainToASCII } from 'node:url'
import { portOf } from './http-connect.ts'

interface NoProxy {
  /** isDirect returns whether the host of an address is reached without the proxy. */
  isDirect(url: URL): boolean
  /** The entries that mean nothing to feedsyncd, as they are written. */
  readonly unusable: readonly string[]
}

/** Target is what an entry is compared with: a name in small letters or an address, and the port. */
interface Target {
  host: string
  port: number
}

type HostTest = (target: Target) => boolean

/** HOST_AND_PORT matches a name, an address or an IPv6 address in brackets, with or without a port. */
const HOST_AND_PORT = /^(?:\[([^\]]+)\]|([^:[\]]+))(?::(\d{1,5}))?$/
const NAME = /^[a-z0-9_-]+(\.[a-z0-9_-]+)*$/

/** readNoProxy reads the variable of an environment, in small or capital letters. */
export function readNoProxy(env: NodeJS.ProcessEnv): NoProxy {
  const written = (env.no_proxy ?? env.NO_PROXY ?? '').split(/[,\s]+/).filter((each) => each !== '')
  const read = written.map((text) => ({ text, entry: readEntry(text) }))
  const entries = read.flatMap(({ entry }) => entry ?? [])
  return {
    isDirect: (url) => {
      const host = url.hostname.replace(/^\[|\]$|\.$/g, '').toLowerCase()
      const target = { host, port: portOf(url) }
      return entries.some((matches) => matches(target))
    },
    unusable: read.flatMap(({ text, entry }) => (entry === null ? [text] : [])),
  }
}

/** readEntry returns null for an entry that cannot be used. */
function readEntry(text: string): HostTest | null {
  const network = /^\[?([^\][]+)\]?\/(\d{1,3})$/.exec(text)
  if (network !== null) return inNetwork(network[1] ?? '', Number(network[2]))
  const [, inBrackets, plain, port] =
    isIP(text) === 6 ? [null, text] : (HOST_AND_PORT.exec(text) ?? [])
  const host = inBrackets ?? plain ?? ''
  const matches = host === '*' ? () => true : isIP(host) === 0 ? underName(host) : inNetwork(host)
  if (matches === null || port === undefined) return matches
  return (target) => target.port === Number(port) && matches(target)
}

/**
 * inNetwork returns a test for the addresses of a network; null if the network is not valid. It compares addresses and
 * not texts, because one IPv6 address has several texts.
 */
function inNetwork(address: string, prefix = bitsOf(address)): HostTest | null {
  if (isIP(address) === 0 || prefix > bitsOf(address)) return null
  const list = new BlockList()
  list.addSubnet(address, prefix, familyOf(address))
  return ({ host }) => isIP(host) !== 0 && list.check(host, familyOf(host))
}

const familyOf = (address: string) => (isIP(address) === 4 ? 'ipv4' : 'ipv6')
const bitsOf = (address: string) => (isIP(address) === 4 ? 32 : 128)

/**
 * underName returns a test for a name and its subdomains, or for its subdomains alone if the text begins with `*.`;
 * null if the text has no valid name.
 */
function underName(text: string): HostTest | null {
  const name = domainToASCII(text.replace(/^\*?\./, '').replace(/\.$/, '')).toLowerCase()
  // "10." or "10.0" is not a name, and what it means differs from program to program.
  if (!NAME.test(name) || /(^|\.)\d+$/.test(name)) return null
  const isItself = text.startsWith('*') ? () => false : (host: string) => host === name
  return ({ host }) => isItself(host) || host.endsWith(`.${name}`)
}

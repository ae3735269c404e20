import { describe, expect, it } from 'vitest'
import { readNoProxy } from '../../../src/lib/no-proxy.ts'

const isDirect = (entries: string, address: string) =>
  readNoProxy({ NO_PROXY: entries }).isDirect(new URL(address))

describe('NO_PROXY', () => {
  it.each([
    ['10.0.0.0/8', 'https://10.200.3.4/', 'https://11.0.0.1/'],
    ['192.168.7.0/24', 'http://192.168.7.255:8080/', 'http://192.168.8.0/'],
    ['2001:db8::/32', 'https://[2001:db8:7::1]/', 'https://[2001:db9::1]/'],
    ['[fd00::]/8', 'https://[fdff::1]:8443/', 'https://[fe00::1]/'],
    ['10.0.0.0/8', 'https://[::ffff:10.1.2.3]/', 'https://[::ffff:11.1.2.3]/'],
    ['::1', 'http://[::1]:3000/', 'http://[::2]/'],
    ['[2001:DB8:0:0::1]:443', 'https://[2001:db8::1]/', 'https://[2001:db8::1]:8443/'],
    ['127.0.0.1:8080', 'http://127.0.0.1:8080/', 'http://127.0.0.1/'],
    ['example.com', 'https://api.example.com/', 'https://anexample.com/'],
    ['example.com', 'https://example.com/', 'https://example.com.evil.test/'],
    ['.Example.com', 'https://example.com/', 'https://example.org/'],
    ['*.example.com', 'https://api.example.com/', 'https://example.com/'],
    ['example.com.', 'https://API.example.com./', 'https://example.de/'],
    ['example.com:8443', 'https://example.com:8443/', 'https://example.com/'],
    ['example.com:443', 'https://example.com/', 'http://example.com/'],
    ['m\u00fcnchen.example', 'https://api.xn--mnchen-3ya.example/', 'https://munchen.example/'],
    ['localhost, intranet  db', 'http://intranet/', 'http://intranet.example/'],
    ['*:80', 'http://any.example/', 'https://any.example/'],
  ])('%s is for %s and not for %s', (entry, direct, proxied) => {
    expect(isDirect(entry, direct)).toBe(true)
    expect(isDirect(entry, proxied)).toBe(false)
    expect(readNoProxy({ NO_PROXY: entry }).unusable).toEqual([])
  })

  it('* is for every host, beside other entries, too', () => {
    expect(isDirect('none.example,*', 'https://[2001:db8::1]/')).toBe(true)
  })

  it('that is not set is for no host', () => {
    expect(readNoProxy({}).isDirect(new URL('http://127.0.0.1/'))).toBe(false)
  })

  it.each([
    '10.',
    '10.*',
    '10.0.0.0/33',
    '10.0.0.0/255.0.0.0',
    '10.0.0.1-10.0.0.9',
    '2001:db8::/129',
    '10.0.0.0/8:443',
    'http://proxy.example',
    '<local>',
    'a|b',
    'one;two',
    '*example.com',
    'example..com',
    'example.com:https',
  ])('names an entry that cannot be used, and uses the others: %s', (entry) => {
    const { isDirect: direct, unusable } = readNoProxy({ no_proxy: `${entry},ok.example` })

    expect(unusable).toEqual([entry])
    expect(direct(new URL('https://ok.example/'))).toBe(true)
  })
})

// A client for one test, and a request with defaults for everything that the test does not set.

import { onTestFinished } from 'vitest'
import { systemClock } from '../../../src/lib/clock.ts'
import {
  createHttpClient,
  type HttpAnswer,
  type HttpClient,
  type HttpRequest,
} from '../../../src/lib/http.ts'

export function client(env: Record<string, string> = {}, connectTimeoutMs = 20_000) {
  const http = createHttpClient({
    ...{ clock: systemClock, env, connectTimeoutMs },
  })
  onTestFinished(() => http[Symbol.asyncDispose]())
  return sendWith(http)
}

export function sendWith(http: HttpClient) {
  return (url: URL | string, change: Partial<HttpRequest> = {}): Promise<HttpAnswer> =>
    http.request({
      method: 'POST',
      url: new URL(url),
      headers: {},
      body: null,
      signal: new AbortController().signal,
      headersTimeoutMs: 5000,
      bodyTimeoutMs: 5000,
      maxAnswerBytes: 1024,
      ...change,
    })
}

// A minimal service and storage in its own process, started by sink.ts. It hands out forms and discards the posted
// bytes without hashing, parsing or storing them, so that a benchmark measures only the sender.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { sharedNow } from './bench.ts'
import type { SinkMessage } from './sink.ts'

const tell = (message: SinkMessage) => process.send?.(message)
let forms = 0

const server = createServer((request, response) => {
  if (request.url === '/storage') store(request, response)
  else form(request, response)
})

function form(request: IncomingMessage, response: ServerResponse): void {
  const { port } = server.address() as AddressInfo
  const key = `feeds/${++forms}.xml`
  const url = `http://127.0.0.1:${port}/storage`
  request.resume().on('end', () => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(
      JSON.stringify({
        url,
        fileUrl: `${url}/${key}`,
        fields: { key, success_action_status: '201' },
      }),
    )
  })
}

function store(request: IncomingMessage, response: ServerResponse): void {
  tell({ kind: 'request', at: sharedNow() })
  // A body that is shorter than its promised length never reaches `end`.
  request.resume().on('end', () => {
    // The sender needs an ETag or a document as proof that the file is stored. This ETag is not an MD5.
    response.writeHead(201, { etag: '"stored"' }).end()
    tell({ kind: 'stored', at: sharedNow() })
  })
}

server.listen(0, '127.0.0.1', () => {
  tell({ kind: 'listening', port: (server.address() as AddressInfo).port })
})
process.on('disconnect', () => process.exit())

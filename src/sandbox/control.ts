// The control routes of the sandbox, on the service's listener but outside of its base address:
// faults are added, listed and removed at run time, gates released; objects and requests can be looked at.

import { messageOf } from '../lib/errors.ts'
import { answer, type Exchange } from './exchange.ts'
import { parseFaults } from './fault-file.ts'
import { type FaultBook, Plan } from './faults.ts'
import type { SeenRequest } from './journal.ts'
import type { StoredObject } from './object-store.ts'

const ROOT = '/_sandbox/'
const LARGEST_BODY = 1024 * 1024

export interface ControlParts {
  faults: FaultBook
  objects(): StoredObject[]
  requests(): SeenRequest[]
}

export class Control {
  readonly #parts: ControlParts

  constructor(parts: ControlParts) {
    this.#parts = parts
  }

  owns(path: string): boolean {
    return path.startsWith(ROOT)
  }

  async handle(exchange: Exchange, path: string): Promise<void> {
    const { entry, journal, reader } = exchange
    journal.update(entry, { route: 'control' })
    const body = (await reader.all(LARGEST_BODY)) ?? Buffer.alloc(0)
    const { status, json } = this.#run(`${entry.method} ${path.slice(ROOT.length)}`, body)
    const headers = { 'content-type': 'application/json' }
    const text = Buffer.from(`${JSON.stringify(json, null, 2)}\n`)
    await answer(exchange, { status, headers, body: text, code: null }, new Plan())
  }

  #run(command: string, body: Buffer): { status: number; json: unknown } {
    const { faults, objects, requests } = this.#parts
    const id = Number(/^\w+ faults\/(\d+)/.exec(command)?.[1])
    const isKnown = faults.list().some((fault) => fault.id === id)
    switch (isKnown ? command.replace(/\d+/, 'ID') : command) {
      case 'DELETE faults/ID':
        faults.remove(id)
        return { status: 200, json: {} }
      case 'POST faults/ID/release':
        faults.release(id)
        return { status: 200, json: {} }
      case 'GET objects':
        return { status: 200, json: objects() }
      case 'GET requests':
        return { status: 200, json: requests().filter(({ route }) => route !== 'control') }
      case 'GET faults':
        return { status: 200, json: faults.list() }
      case 'DELETE faults':
        faults.clear()
        return { status: 200, json: [] }
      case 'POST faults':
        try {
          const added = parseFaults(body.toString('utf8')).map((rule) => faults.add(rule))
          return { status: 201, json: added.map(({ id }) => ({ id })) }
        } catch (error) {
          return { status: 400, json: { message: messageOf(error) } }
        }
      default:
        return { status: 404, json: { message: `there is no ${command}` } }
    }
  }
}

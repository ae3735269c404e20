// The control routes of the sandbox, on the service's listener but outside of its base address: faults are added,
// listed and removed at run time, gates released; objects and requests can be read.

import { messageOf } from '../lib/errors.ts'
import { parseFaults } from './fault-types.ts'
import type { FaultBook } from './faults.ts'
import type { Journal } from './journal.ts'
import type { ObjectStore } from './object-store.ts'
import { type RouteAnswer, refuse } from './service-routes.ts'

/** `path`: below `/_sandbox/`. */
export type Control = (method: string, path: string, body: Buffer) => RouteAnswer

export function createControl(faults: FaultBook, journal: Journal, store: ObjectStore): Control {
  return (method, path, body) => {
    const id = Number(/^faults\/(\d+)/.exec(path)?.[1])
    const fault = faults.list().find((one) => one.id === id)
    switch (`${method} ${fault === undefined ? path : path.replace(/\d+/, 'ID')}`) {
      case 'DELETE faults/ID':
        fault?.remove()
        return { json: {} }
      case 'POST faults/ID/release':
        fault?.release()
        return { json: {} }
      case 'GET objects':
        return { json: store.list() }
      case 'GET requests':
        return { json: journal.list() }
      case 'GET faults':
        return { json: faults.list() }
      case 'DELETE faults':
        faults.clear()
        return { json: [] }
      case 'POST faults':
        try {
          const added = parseFaults(body.toString('utf8')).map((rule) => faults.add(rule))
          return { status: 201, json: added.map((one) => ({ id: one.id })) }
        } catch (error) {
          return refuse(400, 'bad-request', messageOf(error))
        }
      default:
        return refuse(404, 'not-found', `there is no ${method} ${path}`)
    }
  }
}

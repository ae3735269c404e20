// Carries the first fault out of the checker's loops: after it nothing is read any more.

import { type Fault, notWellFormed } from './fault.ts'

export class Stopped extends Error {
  readonly fault: Fault

  constructor(fault: Fault) {
    super(fault.reason)
    this.fault = fault
  }
}

export function stop(fault: Fault): never {
  throw new Stopped(fault)
}

export function wrong(reason: string, at: number): never {
  throw new Stopped(notWellFormed(reason, at))
}

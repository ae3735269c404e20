// Writes what the decisions about files say: the Ledger reads the facts of a path, asks decide/file.ts, and writes the
// answer.

import { WRONG_ACCOUNT } from '../domain/reason-codes.ts'
import { IN_MOTION, REPLACEABLE } from '../domain/states.ts'
import { KnownPaths } from '../history/known-paths.ts'
import type { History, Origin, RuleInForce, Transition, Version } from '../history/port.ts'
import { writeTransitions } from '../history/transitions.ts'
import { logDetected, logMoved } from '../history/version-log.ts'
import type { Clock } from '../lib/clock.ts'
import type { FileIdentity } from '../lib/files.ts'
import type { Log } from '../lib/log.ts'
import { decideFile, type FileEvent, type FileFacts } from './decide/file.ts'
import { fileFacts } from './facts.ts'

interface LedgerParts {
  clock: Clock
  history: History
  log: Log
  /** onMove is called with every new state once it is committed. It must not write or throw. */
  onMove: (version: Version) => void
  /**
   * inSameTransaction adds writes to the transaction in which a version gets a new state (`path` is null), or another
   * file (at `path`).
   */
  inSameTransaction?: (version: Version, path: string | null) => void
}

export class Ledger {
  readonly #clock: Clock
  readonly #history: History
  readonly #log: Log
  readonly #onMove: LedgerParts['onMove']
  readonly #inSameTransaction: LedgerParts['inSameTransaction']
  /** The versions that the paths of the folder were when they were last read. */
  readonly known: KnownPaths

  constructor({ clock, history, inSameTransaction, log, onMove }: LedgerParts) {
    this.#clock = clock
    this.#history = history
    this.#log = log
    this.#onMove = onMove
    this.#inSameTransaction = inSameTransaction
    this.known = new KnownPaths(history, clock)
  }

  /** unsettledPaths returns the paths of unread and rejected versions. */
  unsettledPaths(): string[] {
    return [...this.#history.unread().map(({ path }) => path), ...this.#history.rejectedFiles()]
  }

  /**
   * pathsInMotion returns the paths of unread versions that the daemon must look at again, even if the files did not
   * change: the last read might have failed, or a person asked to read the file again.
   */
  pathsInMotion(): Set<string> {
    const open = this.#history.unread().filter(({ state }) => IN_MOTION.includes(state))
    return new Set(open.map(({ path }) => path))
  }

  isInMotion(path: string): boolean {
    return IN_MOTION.includes(this.unreadAt(path)?.state ?? 'gone')
  }

  /** unreadAt returns the version of the file at a path whose bytes are not known yet, or null. */
  unreadAt(path: string): Version | null {
    return this.#history.unreadAt(path)
  }

  /** commitFile runs `writeFile` in a transaction that it can share with other work of the same moment. */
  commitFile(origin: Origin, event: FileEvent, when?: 'soon'): Promise<Version[]> {
    return this.#history.commit(() => this.writeFile(origin, event), when)
  }

  /**
   * writeFile decides about an event of a file and writes the decision. It returns the changed versions. If the version
   * of the file changed, it is the first of them.
   */
  writeFile(origin: Origin, event: FileEvent): Version[] {
    return this.#history.atomically(() => this.write(decideFile(this.facts(origin), origin, event)))
  }

  /** facts reads what the decisions about a file need. */
  facts(origin: Origin): FileFacts {
    return fileFacts({ history: this.#history, now: this.#clock.now() }, origin)
  }

  /** write writes the transitions of a decision, and returns each changed version as it is afterwards. */
  write(transitions: readonly Transition[]): Version[] {
    return this.#history.atomically(() =>
      writeTransitions(transitions, {
        history: this.#history,
        now: this.#clock.now(),
        paths: {
          link: (path, identity, id) => this.#linked(path, identity, id),
          unlink: (path) => this.known.forget(path),
        },
        added: (version) => this.#added(version),
        moved: (version) => this.#moved(version),
      }),
    )
  }

  /**
   * followRules applies changed rules to the versions that wait or are unread, and to the files that are older by date
   * or held beside another feed.
   */
  followRules(ruleFor: (path: string) => RuleInForce): void {
    this.#history.atomically(() => {
      const paths = [
        ...this.#history.unread().map(({ path }) => path),
        ...this.#history.ruledFiles(),
      ]
      for (const path of paths)
        this.writeFile({ path, identity: null, rule: ruleFor(path) }, { kind: 'ruled' })
      for (const version of this.#history.list({ states: REPLACEABLE, all: true }))
        this.readdress(version, ruleFor(version.path))
    })
  }

  /**
   * readdress gives a version the account that the rule of its path names, writes this, and returns the version. If the
   * rule names another feed, the version keeps its account, unless the last attempt found the account unusable.
   */
  readdress(version: Version, rule: RuleInForce): Version {
    const { account, feed, id } = version
    if (account === rule.account) return version
    const lastCode = () => this.#history.attempts(id, 1)[0]?.code ?? ''
    const needsRule = feed === rule.feed || WRONG_ACCOUNT.includes(lastCode())
    return needsRule ? this.#history.update(id, { account: rule.account }) : version
  }

  #added(version: Version): void {
    this.#history.afterCommit(() => {
      logDetected(this.#log, version)
      this.#onMove(version)
    })
  }

  #linked(path: string, identity: FileIdentity, id: number): void {
    const tell = this.#inSameTransaction
    const isNew = tell !== undefined && this.#history.known(path)?.versionId !== id
    this.known.remember(path, identity, id)
    const version = isNew ? this.#history.version(id) : null
    if (version !== null) tell?.(version, path)
  }

  #moved(version: Version): void {
    this.#inSameTransaction?.(version, null)
    this.#history.afterCommit(() => {
      logMoved(this.#log, version)
      this.#onMove(version)
    })
  }
}

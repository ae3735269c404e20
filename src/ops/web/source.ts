import type { VersionReads } from '../../history/port.ts'
import type { CommandLine, DaemonState, Pulse } from '../port.ts'
import type { Problem } from '../problem.ts'
import type { StatusReport } from '../report.ts'
import type { ShowReport, UploadReport } from '../upload-report.ts'

/** EndpointSource is what the endpoint and its pages read for each request. */
export interface EndpointSource {
  readonly history: VersionReads
  daemon(): DaemonState
  pulse(): Pulse
  status(): StatusReport
  /** What is wrong now, the worst first. */
  problems(): readonly Problem[]
  /** Versions of a feed, newest first. */
  versions(feed: string, limit: number): UploadReport[]
  version(id: number): ShowReport | null
  metrics(): Promise<string>
  /** Name of this host. */
  readonly host: string
  /** Absolute path of the folder that feeds are dropped into. */
  readonly inbox: string
  readonly commandLine: CommandLine
}

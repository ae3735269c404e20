// Runs a pass of the daemon that SIGKILL ends at a chosen step (kill-points.ts).

import { finished, preload, type Site } from './site.ts'

/** killed runs one pass that is killed at a point, and returns whether the pass reached that point. */
export async function killed(site: Site, point: string, log = ''): Promise<boolean> {
  site.env = {
    ...preload('kill-points.ts'),
    FEEDSYNCD_KILL_ROOT: site.root,
    FEEDSYNCD_KILL_AT: point,
    FEEDSYNCD_KILL_LOG: log,
  }
  const child = site.spawn('run', '--once')
  await finished(child)
  site.env = {}
  return child.signalCode === 'SIGKILL'
}

// A pass of the daemon that dies by SIGKILL at a chosen step (kill-points.ts).

import { finished, preload, type Site } from './site.ts'

/** One pass that is killed at a point; answers whether it came there. */
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

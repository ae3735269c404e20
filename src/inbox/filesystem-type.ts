// Recognises network file systems by the f_type of statfs(2). They report no events when other hosts write, so the
// folder is polled there.

import { statfs } from 'node:fs/promises'

/** REMOTE has the magic numbers of linux/magic.h and of the file systems' own headers. */
const REMOTE = new Map<number, string>([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB2'],
  [0x65735546, 'FUSE'], // sshfs, GlusterFS, s3fs, virtiofs
  [0x01021997, '9p'],
  [0x5346414f, 'AFS'],
  [0x6b414653, 'AFS'],
  [0x00c36400, 'Ceph'],
  [0x73757245, 'Coda'],
  [0x564c, 'NCP'],
  [0x0bd00bd0, 'Lustre'],
  [0x47504653, 'GPFS'],
  [0x7461636f, 'OCFS2'],
  [0x01161970, 'GFS2'],
  [0x19830326, 'BeeGFS'],
  [0xaad7aaea, 'PanFS'],
  [0x786f4256, 'VirtualBox shared folder'],
  [0xbacbacbc, 'VMware shared folder'],
])

/** FilesystemProbe returns the f_type of statfs(2) for the file system of a path. */
export type FilesystemProbe = (path: string) => Promise<number>

export const probeFilesystem: FilesystemProbe = async (path) => (await statfs(path)).type

/** remoteFilesystem returns the name of the network file system of a path, or null for a local one. */
export async function remoteFilesystem(
  path: string,
  probe: FilesystemProbe,
): Promise<string | null> {
  return REMOTE.get((await probe(path)) >>> 0) ?? null
}

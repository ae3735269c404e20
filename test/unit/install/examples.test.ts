// The examples of systemd/examples keep the promises of docs/several-hosts.md. Nightly tests try them with Pacemaker,
// Litestream and the schema of Kubernetes.

import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { configSchema } from '../../../src/config/schema.ts'

const FOLDER = join(import.meta.dirname, '../../../systemd/examples')
const read = (name: string) => readFileSync(join(FOLDER, name), 'utf8')

describe('the example for Kubernetes', () => {
  const [secret, map, set] = parseAllDocuments(read('kubernetes.yaml')).map((one) => one.toJS())
  const pod = set.spec.template.spec
  const [container] = pod.containers

  it('has a secret, a configuration map and one pod, on a volume that only one pod can mount', () => {
    expect([secret.kind, map.kind, set.kind]).toEqual(['Secret', 'ConfigMap', 'StatefulSet'])
    expect(set.spec.replicas).toBe(1)
    expect(set.spec.template.metadata.labels).toMatchObject(set.spec.selector.matchLabels)
    expect(set.spec.volumeClaimTemplates[0].spec.accessModes).toEqual(['ReadWriteOncePod'])
  })

  it('gives uploads 45 s to finish, and checks the daemon with status --live', () => {
    expect(pod.terminationGracePeriodSeconds).toBe(45)
    expect(container.livenessProbe.exec.command.slice(-2)).toEqual(['status', '--live'])
  })

  it('mounts every volume that it names, also its secret and its configuration map, whose configuration is valid', () => {
    const config = parse(map.data['feedsyncd.yaml'])
    const claims = set.spec.volumeClaimTemplates.map((one: typeof map) => one.metadata.name)
    const volumes = [...claims, ...pod.volumes.map(({ name }: { name: string }) => name)]
    const mounts = container.volumeMounts.map(({ name }: { name: string }) => name)

    expect(volumes.sort()).toEqual(mounts.sort())
    const sources = Object.assign({}, ...pod.volumes)
    expect(sources.configMap.name).toBe(map.metadata.name)
    expect(sources.secret.secretName).toBe(secret.metadata.name)
    expect(configSchema.safeParse(config)).toMatchObject({ success: true })
  })
})

describe('the example for Pacemaker', () => {
  const commands = read('pacemaker.sh')

  it('is valid shell code', () => {
    expect(spawnSync('sh', ['-n', join(FOLDER, 'pacemaker.sh')]).status).toBe(0)
  })

  it('turns fencing on, starts the disk before the unit, and keeps the daemon on its host', () => {
    expect(commands).toMatch(/^pcs property set stonith-enabled=true$/m)
    expect(commands).toMatch(/^pcs resource create feedsyncd-disk ocf:heartbeat:Filesystem /m)
    expect(commands).toMatch(/^pcs resource create feedsyncd systemd:feedsyncd /m)
    expect(commands).toMatch(/^pcs resource group add feedsyncd-group feedsyncd-disk feedsyncd$/m)
    expect(commands).toMatch(
      /^pcs resource meta feedsyncd-group resource-stickiness=100 priority=1$/m,
    )
  })
})

describe('the example for Litestream', () => {
  const text = read('litestream.yml')

  it('copies only the database, checks what it restored, and fails if the replica to restore is missing', () => {
    const restores = text.split('\n').filter((line) => line.includes('litestream restore'))

    expect(parse(text).dbs.map(({ path }: { path: string }) => path)).toEqual([
      '/var/lib/feedsyncd/feedsyncd.db',
    ])
    expect(restores).toEqual([expect.not.stringContaining('-if-replica-exists')])
    expect(text).toContain('integrity_check')
  })
})

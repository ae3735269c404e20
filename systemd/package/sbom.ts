// Makes the software bill of materials, CycloneDX 1.5: the libraries of the lock file, the private Node, and the SQLite
// inside better-sqlite3. `npm sbom` lists installed packages, not the content of a bundle.

import { createHash } from 'node:crypto'
import type { Library } from './library.ts'

export interface Parts {
  version: string
  libraries: readonly Library[]
  node: { version: string; sha256: string }
  sqlite: string
  /** Seconds since 1970. */
  epoch: number
}

export function sbom({ version, libraries, node, sqlite, epoch }: Parts): string {
  const root = `pkg:npm/feedsyncd@${version}`
  const components = [
    ...libraries.map(fromLock),
    {
      ...component('application', 'node', node.version, `pkg:generic/node@${node.version}`, 'MIT'),
      hashes: [{ alg: 'SHA-256', content: node.sha256 }],
      cpe: `cpe:2.3:a:nodejs:node.js:${node.version}:*:*:*:-:*:*:*`,
    },
    {
      ...component('library', 'sqlite', sqlite, `pkg:generic/sqlite@${sqlite}`, 'blessing'),
      cpe: `cpe:2.3:a:sqlite:sqlite:${sqlite}:*:*:*:*:*:*:*`,
    },
  ]
  const facts = {
    version: 1,
    metadata: {
      timestamp: new Date(epoch * 1000).toISOString(),
      component: component('application', 'feedsyncd', version, root, 'MIT'),
    },
    components,
    dependencies: [{ ref: root, dependsOn: components.map((one) => one['bom-ref']) }],
  }
  const head = {
    $schema: 'http://cyclonedx.org/schema/bom-1.5.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    serialNumber: `urn:uuid:${uuidOf(JSON.stringify(facts))}`,
  }
  return `${JSON.stringify({ ...head, ...facts }, null, 2)}\n`
}

function component(type: string, name: string, version: string, purl: string, license: string) {
  return { type, 'bom-ref': purl, name, version, purl, licenses: [{ license: { id: license } }] }
}

function fromLock({ name, version, license, integrity }: Library) {
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`
  const content = Buffer.from(integrity.replace(/^sha512-/, ''), 'base64').toString('hex')
  return {
    ...component('library', name, version, purl, license),
    hashes: [{ alg: 'SHA-512', content }],
  }
}

/** uuidOf gives the same contents the same UUID, of version 8 (RFC 9562). */
function uuidOf(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex')
  const variant = ((Number.parseInt(hex.charAt(16), 16) & 3) | 8).toString(16)
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    variant + hex.slice(17, 20),
    hex.slice(20, 32),
  ].join('-')
}

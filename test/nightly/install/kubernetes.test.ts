// Checks the example for Kubernetes against the schema of Kubernetes. No cluster runs the example. The test is skipped
// if npm cannot install the schema.

import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { parseAllDocuments } from 'yaml'

const SCHEMA = 'kubernetes-models@4.5.1'
const EXAMPLE = join(import.meta.dirname, '../../../systemd/examples/kubernetes.yaml')
/** JUDGE is a program. It prints the kind of each object that the schema accepts, and fails for any other object. */
const JUDGE = `
import * as core from 'kubernetes-models/v1'
import * as apps from 'kubernetes-models/apps/v1'
for (const object of JSON.parse(process.argv[2])) {
  new { ...core, ...apps }[object.kind](object).validate()
  console.log(object.kind)
}
`

it('the schema of Kubernetes accepts the example, and refuses a field of a wrong type', ({
  skip,
  onTestFinished,
}) => {
  const folder = mkdtempSync(join(tmpdir(), 'kubernetes-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  writeFileSync(join(folder, 'judge.js'), JUDGE)
  const installed = spawnSync('npm', ['install', '--silent', SCHEMA], { cwd: folder })
  if (installed.status !== 0) return skip(`npm cannot install ${SCHEMA}`)
  const objects = parseAllDocuments(readFileSync(EXAMPLE, 'utf8')).map((each) => each.toJS())

  const judge = (...all: object[]) =>
    execFileSync('node', ['judge.js', JSON.stringify(all)], { cwd: folder, encoding: 'utf8' })

  expect(judge(...objects)).toBe('Secret\nConfigMap\nStatefulSet\n')
  const [, , set] = objects
  expect(() => judge({ ...set, spec: { ...set.spec, replicas: '1' } })).toThrow(/must be integer/)
})

import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { defineConfig } from 'vitest/config'

/** What tests start, in a process or a thread of its own, finds its sources compiled: that is most of a start. */
process.env.NODE_COMPILE_CACHE = join(import.meta.dirname, 'node_modules/.cache/feedsyncd')

/** These take seconds of a processor, or of waiting, although they start no process. */
const LONG = [
  'test/campaigns/create-cases.test.ts',
  'test/campaigns/large-account.test.ts',
  'test/campaigns/model.test.ts',
  'test/campaigns/mutations.test.ts',
  'test/feed/worker.test.ts',
  'test/lib/http-progress.test.ts',
  'test/upload/echoes.test.ts',
  'test/xml/conformance.test.ts',
  'test/xml/cut.test.ts',
  'test/xml/second-opinion.test.ts',
]

/** Whether a test starts processes, itself or by a helper of ours. */
function startsProcesses(file: string): boolean {
  const text = readFileSync(file, 'utf8')
  if (/ from '(node:child_process|playwright-core)'/.test(text)) return true
  const imported = [...text.matchAll(/^(?:import|export) (?!type ).*? from '(\..*?)'$/gms)]
  return imported
    .map(([, path = '']) => join(dirname(file), path))
    .some((path) => path.startsWith('test') && startsProcesses(path))
}

const files = globSync('test/**/*.test.ts', { cwd: import.meta.dirname })
const e2e = files.filter(
  (file) => file.startsWith('test/e2e/') || LONG.includes(file) || startsProcesses(file),
)

export default defineConfig({
  test: {
    projects: [
      {
        extends: true,
        // A worker keeps the modules it has loaded: loading them anew for each file took a third of the time.
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: e2e,
          isolate: false,
          maxWorkers: 2,
        },
      },
      {
        extends: true,
        // Each of these tests keeps several processes busy, so they run one after the other, also in one worker.
        test: {
          name: 'e2e',
          include: e2e,
          globalSetup: 'test/helpers/build-program.ts',
          isolate: false,
          maxWorkers: 1,
          sequence: { groupOrder: 1 },
        },
      },
    ],
    environment: 'node',
    // Only a bound for what hangs: on a busy machine every other time is too short.
    testTimeout: 1_800_000,
    hookTimeout: 600_000,
    restoreMocks: true,
    unstubEnvs: true,
    // The reader of feeds, by its own tests. What its threads run is counted where a test calls it directly.
    coverage: { provider: 'v8', include: ['src/feed/**', 'src/xml/**'], reporter: ['text'] },
  },
})

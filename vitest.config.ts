import { join } from 'node:path'
import { defineConfig } from 'vitest/config'

/** What tests start, in a process or a thread of its own, finds its sources compiled: that is most of a start. */
process.env.NODE_COMPILE_CACHE = join(import.meta.dirname, 'node_modules/.cache/feedsyncd')

const MINUTE = 60_000

/** A tier is a folder of `test`. Only unit tests start no daemon; the others need the program as it is installed. */
function tier(name: string, maxWorkers: number, groupOrder: number, testTimeout: number) {
  return {
    extends: true as const,
    test: {
      name,
      include: [`test/${name}/**/*.test.ts`],
      ...(name !== 'unit' && { globalSetup: 'test/helpers/build-program.ts' }),
      // Holds what the sandbox answers and the program asks against config/service.openapi.yaml.
      ...(['smoke', 'e2e'].includes(name) && { setupFiles: 'test/helpers/sandbox/contract.ts' }),
      maxWorkers,
      // Only a bound for what moves for ever: a test that waits for what does not come fails earlier (eventually.ts).
      testTimeout,
      hookTimeout: testTimeout,
      // Projects of different orders run one after the other.
      sequence: { groupOrder },
    },
  }
}

export default defineConfig({
  test: {
    projects: [
      tier('unit', 2, 0, MINUTE),
      tier('smoke', 2, 1, 3 * MINUTE),
      tier('e2e', 2, 2, 3 * MINUTE),
      tier('nightly', 1, 3, 60 * MINUTE),
    ],
    environment: 'node',
    // A worker keeps the modules it has loaded: loading them anew for each file took a third of the time.
    isolate: false,
    restoreMocks: true,
    unstubEnvs: true,
    // The reader of feeds, by its own tests. What its threads run is counted where a test calls it directly.
    coverage: { provider: 'v8', include: ['src/feed/**', 'src/xml/**'], reporter: ['text'] },
  },
})

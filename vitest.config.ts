import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    environment: 'node',
    // One less than the cores is the default; most of our time is spent waiting for processes and disks.
    maxWorkers: 3,
    // Real processes, sockets and fsync on two cores: generous, and only a bound for what hangs.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    restoreMocks: true,
    // The reader of feeds, by its own tests. What its threads run is counted where a test calls it directly.
    coverage: { provider: 'v8', include: ['src/feed/**'], reporter: ['text'] },
  },
})

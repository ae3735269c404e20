import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    environment: 'node',
    // Real processes, sockets and fsync on two cores: generous, and only a bound for what hangs.
    testTimeout: 30_000,
    hookTimeout: 30_000,
    restoreMocks: true,
  },
})

import { defineConfig } from 'vitest/config';

/** Run by `scripts/long/moto.mjs`, which starts the server. */
export default defineConfig({
  test: { include: ['hedgerow/test/moto/*.ts'], testTimeout: 60_000 },
});

// Serves a production build of the page.

import { rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { build, preview } from 'vite';

const CONFIG = fileURLToPath(new URL('../vite.config.ts', import.meta.url));
const CACHE = fileURLToPath(new URL('../../../.cache/torture/', import.meta.url));

/** Builds and serves the page while `work` runs, which is given its port. */
export async function withServer(work) {
  const outDir = `${CACHE}${process.pid}`;
  process.env.TORTURE_OUT_DIR = outDir;
  const port = 20_000 + (process.pid % 10_000);
  try {
    await build({ configFile: CONFIG });
    const server = await preview({ configFile: CONFIG, preview: { host: '127.0.0.1', port } });
    try {
      return await work(port);
    } finally {
      await server.close();
    }
  } finally {
    await rm(outDir, { recursive: true, force: true });
  }
}

// Serves a production build of the page.

import { rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { servePage } from '../../../scripts/lib/serve.mjs';

const CONFIG = fileURLToPath(new URL('../vite.config.ts', import.meta.url));
const CACHE = fileURLToPath(new URL('../../../.cache/torture/', import.meta.url));

/** Builds and serves the page while `work` runs, which gets its port. */
export async function withServer(work) {
  const outDir = `${CACHE}${process.pid}`;
  process.env.TORTURE_OUT_DIR = outDir;
  try {
    const server = await servePage({ configFile: CONFIG });
    try {
      return await work(server.port);
    } finally {
      await server.close();
    }
  } finally {
    await rm(outDir, { recursive: true, force: true });
  }
}

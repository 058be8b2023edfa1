// Runs before all tests: they use the last built core, which must not be older than its sources.

import { refreshWasm } from '../../../../scripts/lib/wasm.mjs';

/** Builds the core if its sources have changed; if that fails, rejects with the command to run. */
export async function ensureCore(build = refreshWasm) {
  try {
    if (await build()) console.log('the core was older than its sources, and was built again');
  } catch (cause) {
    const message = `the core is older than its sources, and cannot be built: run npm run build (${cause.message})`;
    throw new Error(message, { cause });
  }
}

/** Vitest calls this once, and again before each run of its watch mode. */
export async function setup(project) {
  await ensureCore();
  project.onTestsRerun(() => ensureCore());
}

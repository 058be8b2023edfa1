// Runs before all tests: they use the core that was built last, which must not be older than its sources.

import { refreshWasm } from '../../../scripts/lib/wasm.mjs';

/** Builds the core if its sources have changed; rejects with what to run when that fails. */
export async function ensureCore(build = refreshWasm) {
  try {
    if (await build()) console.log('the core was older than its sources, and was built again');
  } catch (cause) {
    const message = `the core is older than its sources, and cannot be built: run npm run build (${cause.message})`;
    throw new Error(message, { cause });
  }
}

/** Called by Vitest once, and again before each run of its watch mode. */
export async function setup(project) {
  await ensureCore();
  project.onTestsRerun(() => ensureCore());
}

/** Checks for the features of WebAssembly that the core needs. */
import { part } from './dynamic-import.js';
import { SIMD_MODULE } from './simd-module.js';

/** Rejects with `unsupported` where no module with SIMD may be compiled, or `other` fails. */
export async function checkFeatures(other?: () => unknown): Promise<void> {
  try {
    new WebAssembly.Module(SIMD_MODULE);
    other?.();
  } catch (cause) {
    const { buildUnsupportedError } = await part(() => import('./missing-features.js'));
    throw buildUnsupportedError(cause);
  }
}

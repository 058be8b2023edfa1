/** Checks the platform for the features that the library needs. Loaded at the first use. */
import { HedgerowError } from './errors.js';
import { SIMD_MODULE } from './simd-module.js';

/** Lists the missing features, each with its likely cause or remedy; empty where the library works. */
export function listMissingFeatures(): string[] {
  const missing: string[] = [];
  if (typeof WebAssembly === 'undefined') {
    missing.push('WebAssembly: this browser is too old, or in a mode that switches it off');
  } else if (!WebAssembly.validate(SIMD_MODULE)) {
    missing.push('SIMD in WebAssembly: this browser or its processor is too old');
  } else {
    try {
      new WebAssembly.Module(SIMD_MODULE);
    } catch {
      missing.push(
        "leave to compile WebAssembly: add 'wasm-unsafe-eval' to script-src of the page's content security policy",
      );
    }
  }
  try {
    new DecompressionStream('deflate-raw');
  } catch {
    missing.push('DecompressionStream for deflate-raw: this browser or runtime is too old');
  }
  return missing;
}

/** Builds the error for a core that did not start. */
export function buildUnsupportedError(cause: unknown): HedgerowError {
  const [first = String(cause), ...others] = listMissingFeatures();
  const missing = [first, ...others].join('; ');
  return new HedgerowError('unsupported', `Hedgerow cannot start without ${missing}`, { cause });
}

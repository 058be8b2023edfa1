/** Checks the platform for the features that the library needs. Loaded at the first use. */
import { HedgerowError } from './errors.js';

/** Lists the missing features, each with its likely cause or remedy; empty where the library works. */
export function listMissingFeatures(): string[] {
  const missing: string[] = [];
  // The smallest module with an instruction of SIMD: `(func i32.const 0 i8x16.splat drop)`.
  const head = [0, 97, 115, 109, 1, 0, 0, 0, 1, 4, 1, 96, 0, 0, 3, 2, 1, 0];
  const simd = Uint8Array.of(...head, 10, 9, 1, 7, 0, 65, 0, 253, 15, 26, 11);
  if (typeof WebAssembly === 'undefined') {
    missing.push('WebAssembly: this browser is too old, or in a mode that switches it off');
  } else if (!WebAssembly.validate(simd)) {
    missing.push('SIMD in WebAssembly: this browser or its processor is too old');
  } else {
    try {
      new WebAssembly.Module(simd);
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

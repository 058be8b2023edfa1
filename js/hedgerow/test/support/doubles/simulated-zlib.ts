/**
 * The used part of zlib, in the turn of the call: a seed determines all that follows, and no call waits for other
 * threads. It deflates less, and so takes less time.
 */
import { builtinIfAny } from '../../../src/base/node-builtin.js';

interface Zlib {
  deflateRaw: unknown;
  inflateRaw: unknown;
  deflateRawSync(bytes: Uint8Array, options: object): Uint8Array;
  inflateRawSync(bytes: Uint8Array, options: object): unknown;
}

type Done = (cause: unknown, result?: unknown) => void;

/** Reports the outcome as zlib does. */
function tell(run: () => unknown, done: Done): void {
  let result: unknown;
  try {
    result = run();
  } catch (cause) {
    done(cause);
    return;
  }
  done(null, result);
}

/** Puts it in the place of Node's; returns a function that undoes this. */
export function simulateZlib(): () => void {
  const zlib = builtinIfAny<Zlib>('node:zlib');
  // Browsers have streams.
  if (zlib === undefined) return () => {};
  const { deflateRaw, inflateRaw } = zlib;
  zlib.deflateRaw = (bytes: Uint8Array, done: Done) =>
    tell(() => zlib.deflateRawSync(bytes, { level: 1 }), done);
  zlib.inflateRaw = (bytes: Uint8Array, options: object, done: Done) =>
    tell(() => zlib.inflateRawSync(bytes, options), done);
  return () => Object.assign(zlib, { deflateRaw, inflateRaw });
}

/** Measures slices: from where the wrapper begins one to the end of the core's work in it. */

import type { Host } from '../../core/engine-host.js';
import { replaceMethod } from './replace-method.js';

/** Tells each slice of a store; returns how to stop. Of scans and single reads the core's work alone is seen. */
export function traceSlices(
  host: Host,
  tell: (startMs: number, endMs: number) => void,
): () => void {
  let slice: { readonly startMs: number; endMs: number } | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let depth = 0;
  const flush = () => {
    if (timer !== undefined) clearTimeout(timer);
    timer = undefined;
    if (slice !== undefined) tell(slice.startMs, slice.endMs);
    slice = undefined;
  };
  const note = (startMs: number) => {
    const endMs = performance.now();
    // Further steps of a slice tell where that began. Clocks may be too coarse to tell an end from the next start.
    if (startMs === slice?.startMs) {
      slice.endMs = endMs;
      return;
    }
    flush();
    slice = { startMs, endMs };
    timer = setTimeout(flush);
  };
  /** Steps of the core are within steps of the host, which know where their slice began. */
  const runStep = <T>(startMs: number, step: () => T): T => {
    depth += 1;
    try {
      return step();
    } finally {
      depth -= 1;
      if (depth === 0) note(startMs);
    }
  };
  const undo = [
    replaceMethod(host, 'step', (step) => (...args: unknown[]) => {
      return runStep(args[1] as number, () => step(...args));
    }),
    replaceMethod(host.engine, 'step', (step) => (...args: unknown[]) => {
      return runStep(performance.now(), () => step(...args));
    }),
  ];
  return () => {
    for (const one of undo) one();
    flush();
  };
}

/** Measures slices: from the start in the wrapper to the end of the core's work. */

import type { Host } from 'hedgerow/kit';
import { replaceMethod } from './replace-method.js';

/**
 * Reports each slice of a store; returns a function that stops this. Of scans and single reads, it reports only the
 * core's work.
 */
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
    // Further steps of a slice have its start. Clocks may be too coarse to distinguish an end from the next start.
    if (startMs === slice?.startMs) {
      slice.endMs = endMs;
      return;
    }
    flush();
    slice = { startMs, endMs };
    timer = setTimeout(flush);
  };
  /** Steps of the core are within steps of the host, which know the start of their slice. */
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

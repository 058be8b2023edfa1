/** The later part of the core, where the core is not split: the first part contains it. */
import type { LaterOutput } from '../generated/exports.js';

/** Returns the exports of a running core, which include the later part. */
export async function instantiateLater(first: WebAssembly.Exports): Promise<LaterOutput> {
  return first as unknown as LaterOutput;
}

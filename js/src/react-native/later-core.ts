/** The later part of the core, where the core is not cut in two: it is there already. */
import type { LaterOutput } from '../core/generated/exports.js';

/** What a running core exports, those of the later part among it. */
export async function instantiateLater(first: WebAssembly.Exports): Promise<LaterOutput> {
  return first as unknown as LaterOutput;
}

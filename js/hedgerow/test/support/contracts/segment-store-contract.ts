/**
 * Cases for every storage adapter: one for each sentence of `storage/segment-store.ts`. They use no test framework, so
 * Node and a page in a browser can both run them.
 */
import { handles } from './segment-store/handles.js';
import { loads } from './segment-store/loads.js';
import { refs } from './segment-store/refs.js';
import type { ContractCase } from './segment-store/scene.js';
import { segments } from './segment-store/segments.js';

export type { Assert, ContractCase } from './segment-store/scene.js';

export const segmentStoreContract: readonly ContractCase[] = [
  ...loads,
  ...refs,
  ...segments,
  ...handles,
];

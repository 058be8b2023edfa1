/** `hedgerow/proofs`: proofs of rows and sums, which a root alone verifies. */

export { HedgerowError } from './base/errors.js';
export {
  type SumKey,
  type SumLeaf,
  type SumRoot,
  sumKey,
  verifySumProof,
  verifySumProofs,
} from './core/sum-proof/index.js';
export type { SumDefinition, SumDefinitions } from './core/sum-tree-definition.js';
export type { SumChange, SumItem } from './core/sum-tree-types.js';
export type { ProofResult, RangeProofResult } from './engine/read/proof.js';
export type { SumTree } from './engine/sums/sum-tree.js';
export { verifyProof } from './store/verify-row-proof.js';

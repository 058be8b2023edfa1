/** The page of `tests/sum-proof.spec.ts`: it loads only `hedgerow/proofs`. */
import { verifySumProof } from 'hedgerow/proofs';

declare global {
  interface Window {
    verifySumProof: typeof verifySumProof;
  }
}

window.verifySumProof = verifySumProof;

/** The page of `tests/proof.spec.ts` without a store. */
import { verifyProof } from 'hedgerow/proofs';

declare global {
  interface Window {
    verifyProof: typeof verifyProof;
  }
}

window.verifyProof = verifyProof;

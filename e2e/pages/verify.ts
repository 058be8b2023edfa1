/** The page of `tests/proof.spec.ts` that has no store. */
import { verifyProof } from 'hedgerow';

declare global {
  interface Window {
    verifyProof: typeof verifyProof;
  }
}

window.verifyProof = verifyProof;

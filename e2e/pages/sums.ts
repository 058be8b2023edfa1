/** The page of `tests/sum-proof.spec.ts`: it loads `hedgerow/sum-proof` and nothing else. */
import { verifySumProof } from 'hedgerow/sum-proof';

declare global {
  interface Window {
    verifySumProof: typeof verifySumProof;
  }
}

window.verifySumProof = verifySumProof;

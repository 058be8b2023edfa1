/** The page of `tests/sum-proof.spec.ts`: it loads only `hedgerow/sum-proof`. */
import { verifySumProof } from 'hedgerow/sum-proof';

declare global {
  interface Window {
    verifySumProof: typeof verifySumProof;
  }
}

window.verifySumProof = verifySumProof;

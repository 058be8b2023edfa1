// The scenario's parts of the package, imported like in an app.

import { destroy, HedgerowError, live, open, table } from 'hedgerow';
import { verifyProof } from 'hedgerow/proofs';

export const modules = { destroy, HedgerowError, live, open, table, verifyProof };

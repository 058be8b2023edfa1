// The same from the one file that loads no code later.

import { destroy, HedgerowError, live, open, table, verifyProof } from 'hedgerow/full';

export const modules = { destroy, HedgerowError, live, open, table, verifyProof };

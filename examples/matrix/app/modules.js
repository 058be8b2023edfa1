// What the scenario takes of the package, as an app imports it.

import { destroy, HedgerowError, open, verifyProof } from 'hedgerow';
import { live } from 'hedgerow/live';
import { table } from 'hedgerow/tables';

export const modules = { destroy, HedgerowError, live, open, table, verifyProof };

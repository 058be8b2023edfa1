// The scenario's parts of the package, imported like in an app.

import { destroy, HedgerowError, open, verifyProof } from 'hedgerow';
import { live } from 'hedgerow/live';
import { table } from 'hedgerow/tables';

export const modules = { destroy, HedgerowError, live, open, table, verifyProof };

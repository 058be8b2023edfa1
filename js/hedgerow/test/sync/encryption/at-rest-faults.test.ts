/** Encrypted stores over storage that fails at every call: no call hangs, no state is torn, no store loses its key. */
import { atRest } from '../../../src/sync/encryption/index.js';
import { itIsWhole } from '../../support/fault-sweep.js';
import { WORKLOADS } from '../../support/fault-workloads.js';

const encryption = atRest({ key: new Uint8Array(32).fill(7) });
/** Makes small and bulk changes, collections, and changes of several handles. */
const CHOSEN = ['small changes', 'a large load', 'a writer that commits now and then'];

for (const title of CHOSEN) itIsWhole(title, WORKLOADS[title] ?? [], { encryption });

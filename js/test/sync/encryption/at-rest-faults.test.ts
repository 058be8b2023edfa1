/** Encrypted stores over storage that fails: at every call that is made to it nothing hangs, is torn, or loses its key. */
import { atRest } from '../../../src/sync/encryption/index.js';
import { itIsWhole } from '../../support/fault-sweep.js';
import { WORKLOADS } from '../../support/fault-workloads.js';

const encryption = atRest({ key: new Uint8Array(32).fill(7) });
/** Small and bulk changes, collections, and changes of several handles. */
const CHOSEN = ['small changes', 'a large load', 'a writer that commits now and then'];

for (const title of CHOSEN) itIsWhole(title, WORKLOADS[title] ?? [], { encryption });

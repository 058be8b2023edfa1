/** Loads transactions when the first one begins. */
import { part } from '../../base/dynamic-import.js';

/** Loads the code of transactions, and of deletions by an index, which are transactions. */
export const transacting = () => part(() => import('./on-demand-transaction-bundle.js'));

/** Loads transactions when the first one begins. */
import { part } from '../../base/parts.js';

/** Loads the code of transactions, and of deletions by an index, which are transactions. */
export const transacting = () => part(() => import('./transaction-parts.js'));

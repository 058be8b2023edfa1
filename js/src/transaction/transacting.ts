/** Transactions, which are loaded when the first begins. */
import { part } from '../base/parts.js';

/** What runs them, and deletions by an index, which are transactions. */
export const transacting = () => part(() => import('./transaction-parts.js'));

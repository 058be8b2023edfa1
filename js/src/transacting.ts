/** Transactions, which are loaded when the first begins. */
import { part } from './parts.js';

/** What runs them. */
export const transacting = () => part(() => import('./transaction/run.js'));

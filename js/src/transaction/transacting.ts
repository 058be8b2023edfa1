/** Transactions, which are loaded when the first begins. */
import { part } from '../base/parts.js';

/** What runs them. */
export const transacting = () => part(() => import('./run.js'));

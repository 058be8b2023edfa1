/**
 * Loads what is here apart from what is at the remote. Operations ask for what they need first, and with it for what they
 * may need next: nobody waits for that, and a remote that is not reached fails those alone who need what is there.
 */

import type { Host } from '../../core/engine-host.js';
import { isFar } from '../../core/needed-part.js';

/** Changes how the host of a store loads. */
export function loadApart(host: Host): void {
  host.load = async (wanted) => {
    const [first] = wanted;
    if (first === undefined) return;
    const alike = wanted.filter((one) => isFar(one) === isFar(first));
    const loading = host.bring(alike);
    if (alike.length < wanted.length) {
      // A failure is told to the operation that needs it, when that asks for it.
      host.bring(wanted.filter((one) => !alike.includes(one))).catch(() => {});
    }
    return loading;
  };
}

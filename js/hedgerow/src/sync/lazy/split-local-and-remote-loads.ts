/**
 * Loads chunks that are here apart from chunks at the remote. Operations ask for what they need, and for what they may
 * need next. They do not wait for the latter, and an unreachable remote fails only operations that need it.
 */

import { isFar } from '../../core/needed-segment-part.js';
import type { Host } from '../../core/operation-host.js';

/** Changes how the host of a store loads. */
export function separateRemoteLoads(host: Host): void {
  host.load = async (wanted) => {
    const [first] = wanted;
    if (first === undefined) return;
    const alike = wanted.filter((one) => isFar(one) === isFar(first));
    const loading = host.bring(alike);
    if (alike.length < wanted.length) {
      // The operation that needs it gets the error when it asks for it.
      host.bring(wanted.filter((one) => !alike.includes(one))).catch(() => {});
    }
    return loading;
  };
}

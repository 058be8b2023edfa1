import { notify, report } from '../../base/call-callback-safely.js';
import type { HedgerowError } from '../../base/errors.js';
import type { Call } from '../protocol.js';
import type { WorkerLink } from './worker-link.js';

/** Begins a watch, which calls a function repeatedly; returns a function that stops it. */
export function watch(link: WorkerLink, target: number, path: readonly Call[]): () => void {
  const [, ...args] = path.at(-1) as Call;
  let parts: unknown[] = [];
  const pending = {
    no: (error: unknown) => {
      const { onError } = Object(args.at(-1));
      // The app knows that it has closed the connection or the store.
      if (typeof onError === 'function') notify(onError, error);
      else if ((error as HedgerowError).code !== 'closed') report(error);
    },
    part: (members: unknown[], taken: () => void) => {
      for (const one of members) parts.push(one);
      taken();
    },
    receiveArgs: ([first, ...more]: unknown[], hasParts: boolean) => {
      const all = parts;
      if (hasParts) parts = [];
      return [hasParts ? all : first, ...more];
    },
  };
  const id = link.call(target, path, pending);
  return () => link.stop(id);
}

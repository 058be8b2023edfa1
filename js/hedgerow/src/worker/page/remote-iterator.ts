import { iterateUntilDropped } from '../../base/finalization-registry.js';
import { type Call, nameOf } from '../protocol.js';
import type { WorkerLink } from './worker-link.js';

type Part = readonly [members: readonly unknown[], taken: () => void];

/** Yields members one by one. A part waits until its members are asked for; the worker sends few parts ahead. */
export function iterateRemote(
  link: WorkerLink,
  target: number,
  path: readonly Call[],
): AsyncIterableIterator<unknown, void> {
  return iterateUntilDropped((state) => iterateParts(link, target, path, state));
}

async function* iterateParts(
  link: WorkerLink,
  target: number,
  path: readonly Call[],
  state: { isOver?: boolean },
): AsyncGenerator<unknown, void, void> {
  const parts: Part[] = [];
  const close = link.callsOf(target)?.begin(nameOf([...path, ['each']]));
  let end: { readonly error?: unknown } | undefined;
  let wake = () => {};
  const over = (how: { readonly error?: unknown }) => {
    end = how;
    wake();
  };
  const id = link.call(target, [...path, ['each']], {
    ok: () => over({}),
    no: (error) => over({ error }),
    part: (...part) => {
      parts.push(part);
      wake();
    },
  });
  try {
    for (;;) {
      const part = parts.shift();
      if (part !== undefined) {
        part[1]();
        for (const member of part[0]) yield member;
      } else if (end !== undefined) {
        if ('error' in end) throw end.error;
        return;
      } else {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    }
  } finally {
    state.isOver = true;
    close?.();
    if (end === undefined) link.stop(id);
  }
}

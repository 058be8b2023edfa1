import type { SourceKind, Step, SyncSource } from './row-source.js';

/** Opens an array. One step serves all members: a load of many rows makes no object for each. */
export function openArray<T>(kind: SourceKind, members: readonly T[]): SyncSource<T> {
  const step = { done: false as const, value: undefined as T };
  let at = 0;
  const read = (): Step<T> => {
    if (at >= members.length) return { done: true, value: undefined };
    step.value = members[at++] as T;
    return step;
  };
  const total = kind === 'rows' ? members.length : undefined;
  return { kind, isAsync: false, total, read, end: () => {} };
}

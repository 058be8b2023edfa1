/** Lists the states of a store that can be compared: heads and forks of branches, kept states, and earlier heads. */

import type { Branch } from 'hedgerow';
import { EMPTY_ROOT, hex, parseRoot, refOfBranch } from 'hedgerow/kit';
import { readOnly } from './read-only-storage.js';
import type { Session, StoreLocation } from './store-session.js';

/** A state with its title, for a list to choose from. */
export interface ListedState {
  readonly title: string;
  readonly root: string;
  /** Whether it stays whole while it is shown: earlier heads may be gone. */
  readonly isKept: boolean;
}

/** Reads the earlier heads of a branch, the newest first, as far as storage lists them. */
async function earlierHeads({ name, storage }: StoreLocation, branch: string): Promise<string[]> {
  const segments = await readOnly(storage).open(name);
  try {
    const moves = await segments.history(refOfBranch(branch));
    return moves.slice(1).map(({ commitBytes }) => hex(commitBytes));
  } finally {
    await segments.close();
  }
}

function statesOfBranch({ name, root, parent, base }: Branch): ListedState[] {
  const head: ListedState = { title: `head of ${name}`, root, isKept: true };
  if (base === undefined) return [head];
  return [head, { title: `${name}: where it left ${parent}`, root: base, isKept: true }];
}

/** Lists all states, earlier heads after the kept ones; states with equal roots are one, with all their titles. */
export async function statesOf(session: Session): Promise<ListedState[]> {
  const branches = await session.db.branches.list({ remotes: true });
  const kept = session.kept.map((snapshot, at) => ({
    title: `kept state ${at + 1}`,
    root: snapshot.root,
    isKept: true,
  }));
  const earlier = await earlierHeads(session.place, session.branchName);
  const all: ListedState[] = [
    ...branches.flatMap(statesOfBranch),
    ...kept,
    ...earlier.map((root, at) => ({
      title: `${session.branchName}, ${at + 1} ${at === 0 ? 'commit' : 'commits'} ago`,
      root,
      isKept: false,
    })),
    { title: 'a store without rows', root: EMPTY_ROOT, isKept: true },
  ];
  const known = new Map<string, ListedState>();
  for (const state of all) {
    const { title, isKept } = known.get(state.root) ?? state;
    const isNew = !known.has(state.root);
    known.set(state.root, isNew ? state : { ...state, title: `${title}, ${state.title}`, isKept });
  }
  return [...known.values()];
}

/** Parses a typed root. Throws `invalid-argument`. */
export function rootFrom(text: string): string {
  const root = text.trim().toLowerCase();
  parseRoot(root);
  return root;
}

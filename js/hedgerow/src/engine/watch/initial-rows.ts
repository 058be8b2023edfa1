/** The first call of a watch with `initial`: all rows of its range, as added. */
import * as ReadFlag from '../../base/abi/read-flag.js';
import { freezeShared } from '../../base/freeze-shared.js';
import { turn } from '../../base/slice-queue.js';
import type { BranchHead } from '../history/branch-head.js';
import type { Change } from '../read/decode-diff.js';
import { blocks, startScan } from '../read/scan.js';
import { type StoredScan, UNLIMITED } from '../read/scan-options.js';
import type { Watcher } from './watcher-types.js';

/** Reads the rows of a commit, or the entries of an index, until `isOver`. */
export async function rowsAt(
  branchHead: BranchHead,
  { range, space }: Watcher,
  commitBytes: Uint8Array,
  isOver: () => boolean,
): Promise<Change[]> {
  const parts = ReadFlag.keys | ReadFlag.values | (space ? ReadFlag.secondary : 0);
  const all: StoredScan = { range, reverse: false, offset: 0, limit: UNLIMITED, parts };
  const { shared } = branchHead;
  const start = async () => {
    const { host, view } = await shared.openView(commitBytes, shared.opening);
    try {
      return { host, op: startScan(host, view, all) };
    } finally {
      host.engine.closeView(view);
    }
  };
  const rows: Change[] = [];
  for await (const members of blocks(shared.opening, start, undefined)) {
    if (isOver()) break;
    for (let at = 0; at < members.length; at += space ? 3 : 2) {
      const row = { op: 'insert', key: members[at] as string, newValue: members[at + 1] } as const;
      rows.push(freezeShared(space ? { ...row, secondary: members[at + 2] } : row));
    }
  }
  // The callback gets a slice of its own.
  await turn();
  return freezeShared(rows);
}

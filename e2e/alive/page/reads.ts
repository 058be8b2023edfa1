/** Reads while rows are loaded: the reads see the store before the load until the load has ended. */
import { destroy, open } from 'hedgerow';
import { rowsInTurn } from '../../bench/page/rows.js';
import { pause } from './probes.js';

/** A description of a read that missed its snapshot. */
type Wrong = string;

export interface Reads {
  /** Reads that ended before the load, and reads that began after it. */
  readonly gets: number;
  readonly counts: number;
  readonly scans: number;
  readonly after: number;
  /** Rows of a scan that began before the load and ended after it. */
  readonly longScanRows: number;
  readonly wrong: readonly Wrong[];
}

const OLD = 'before';

function* oldRows(count: number) {
  for (const row of rowsInTurn(count)) yield { ...row, status: OLD };
}

/** Stores `rows` rows, then replaces them by twice as many while reading them. */
export async function readWhileLoading(rows: number): Promise<Reads> {
  const db = await open('alive, read');
  try {
    await db.putMany(oldRows(rows), { key: '/id' });
    const oldRoot = db.root;
    const wrong: Wrong[] = [];
    const expect = (what: string, isRight: boolean) => {
      if (!isRight && wrong.length < 20) wrong.push(what);
    };
    const id = (at: number) => `issue/${String(at % rows).padStart(8, '0')}`;
    let [loading, gets, counts, scans, longScanRows] = [true, 0, 0, 0, 0];

    const get = async () => {
      for (let at = 0; loading; at += 7919) {
        const row = await db.get<{ status: string }>(id(at));
        // The load may have ended during the read; then either row is right.
        if (!loading) break;
        expect(`get saw ${row?.status}`, row?.status === OLD);
        gets += 1;
        await pause(1);
      }
    };
    const count = async () => {
      while (loading) {
        const [all, root] = [await db.count(), db.root];
        if (!loading) break;
        expect(`count saw ${all}`, all === rows);
        expect(`root was ${root}`, root === oldRoot);
        counts += 1;
        await pause(3);
      }
    };
    const scan = async () => {
      while (loading) {
        const wasLoading = loading;
        const found = await db.scan<{ status: string }>({ gte: id(0) }).toArray();
        if (!wasLoading) break;
        // Begun before the end, so it sees all old rows, whenever it ends.
        expect(`a scan saw ${found.length}`, found.length === rows);
        expect(
          'a scan saw new rows',
          found.every(([, row]) => row.status === OLD),
        );
        scans += 1;
      }
    };
    let ended = () => {};
    const end = new Promise<void>((resolve) => {
      ended = resolve;
    });
    const longScan = async () => {
      for await (const [, row] of db.scan<{ status: string }>()) {
        longScanRows += 1;
        if (row.status !== OLD) expect('the long scan saw new rows', false);
        if (longScanRows === 10) await end;
      }
      expect(`the long scan saw ${longScanRows} rows`, longScanRows === rows);
    };
    const readers = Promise.all([get(), count(), scan(), longScan()]);
    const { root } = await db.putMany(rowsInTurn(2 * rows), { key: '/id' });
    loading = false;
    let after = 0;
    expect('the new root is not seen', db.root === root && root !== oldRoot);
    expect('count sees the old', (await db.count()) === 2 * rows);
    for (let at = 0; at < rows; at += Math.ceil(rows / 100)) {
      const row = await db.get<{ status: string }>(id(at));
      expect('get sees the old', row !== undefined && row.status !== OLD);
      after += 1;
    }
    const keys = await db.scan().keys().toArray();
    expect('a scan sees the old', keys.length === 2 * rows);
    ended();
    await readers;
    return { gets, counts, scans, after: after + 2, longScanRows, wrong };
  } finally {
    await db.close();
    await destroy('alive, read');
  }
}

/** Compares a patch with all kinds of operations on a tenth of the rows with the load of all rows. */
import type { PatchOperation } from 'hedgerow';
import type { Act, Contestant, Setting, Suite } from '../bench-case.js';
import { timed } from '../measure.js';
import { openStore } from '../peers/hedgerow.js';
import { HEDGEROW } from '../peers/index.js';
import { changedRows, makeRows, shuffled } from '../rows.js';
import { loadSample } from './life-first.js';

/** Every tenth row, so that all leaves are touched; or as many, in ten places. */
const EVERYWHERE = (at: number) => at % 10 === 0;
const IN_TEN_PLACES = (at: number, rows: number) => at % (rows / 10) < rows / 100;

/** Makes operations in the order of keys: puts and dels of present and absent rows, and updates. */
function makePatch(rows: number, isTouched: typeof IN_TEN_PLACES): PatchOperation[] {
  const patch = makeRows(rows)
    .filter((_, at) => isTouched(at, rows))
    .map((row, at): PatchOperation => {
      const { id: key, modified } = row;
      const value = { ...row, status: 'merged', modified: modified + 1 };
      if (at % 5 === 0) return { op: 'put', key, value };
      if (at % 5 === 1) return { op: 'put', key: `${key}+`, value };
      if (at % 5 === 2) return { op: 'delete', key };
      if (at % 5 === 3) return { op: 'delete', key: `${key}-` };
      return { op: 'update', key, merge: { status: 'merged', modified: modified + 1 } };
    });
  return JSON.parse(JSON.stringify(patch)) as PatchOperation[];
}

async function filled(rows: number): Promise<Awaited<ReturnType<typeof openStore>>> {
  const store = await openStore();
  await store.putMany(makeRows(rows), { key: '/id' });
  return store;
}

const fill: Act = async ({ rows }) => {
  const store = await filled(rows);
  await store.close();
  return {};
};

function patching(
  name: string,
  kind: Contestant['kind'],
  reorder: (patch: PatchOperation[]) => PatchOperation[],
  { justOpened = false, isTouched = EVERYWHERE as typeof IN_TEN_PLACES } = {},
): Contestant {
  const act = async ({ rows }: Setting) => {
    const patch = reorder(makePatch(rows, isTouched));
    const store = await (justOpened ? openStore() : filled(rows));
    const { ms, result } = await timed(() => store.applyPatch(patch));
    const count = await store.count();
    await store.close();
    const deleted = Math.floor((rows / 10 + 2) / 5);
    const added = Math.floor((rows / 10 + 3) / 5);
    if (count !== rows + added - deleted) throw new Error(`${count} rows`);
    const { longestSliceMs, storageMs, slices, chunks } = result.stats;
    const details = {
      slices,
      'longest slice, ms': longestSliceMs,
      'waiting for storage, ms': storageMs,
      chunks,
    };
    return { patch: { value: ms, details } };
  };
  return { name, kind, acts: justOpened ? [fill, act] : [act] };
}

const loading: Contestant = {
  name: 'the load of all rows',
  kind: 'floor',
  acts: [async ({ rows }) => ({ patch: await loadSample(HEDGEROW, makeRows(rows)) })],
};

/** The main cost of a patch: putting these rows rewrites all leaves, too. */
function putting(justOpened: boolean): Contestant {
  const act: Act = async ({ rows }) => {
    const changed = changedRows(makeRows(rows), 10);
    const store = await (justOpened ? openStore() : filled(rows));
    const { ms, result } = await timed(() => store.putMany(changed, { key: '/id' }));
    await store.close();
    return { patch: { value: ms, details: { 'longest slice, ms': result.stats.longestSliceMs } } };
  };
  const when = justOpened ? ', just opened' : '';
  return {
    name: `putMany of every tenth row${when}`,
    kind: 'variant',
    acts: justOpened ? [fill, act] : [act],
  };
}

export const PATCH: Suite = {
  name: 'patch',
  cases: [{ name: 'patch', title: 'a patch of a tenth as many operations as rows', unit: 'ms' }],
  contestants: [
    patching('hedgerow', 'ours', (patch) => patch),
    loading,
    patching('hedgerow, shuffled', 'variant', shuffled),
    patching('hedgerow, a del first', 'variant', (patch) => [{ op: 'delete', key: 'a' }, ...patch]),
    patching('hedgerow, just opened', 'variant', (patch) => patch, { justOpened: true }),
    patching('hedgerow, in ten places', 'variant', (patch) => patch, { isTouched: IN_TEN_PLACES }),
    putting(false),
    putting(true),
  ],
};

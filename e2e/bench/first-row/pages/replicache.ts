import { type ReadonlyJSONValue, Replicache, type WriteTransaction } from 'replicache';
import type { Row } from '../../page/rows.js';
import { show } from './show.js';

let patch: { op: 'put'; key: string; value: ReadonlyJSONValue }[] = [];
const rep = new Replicache({
  name: 'first-row',
  mutators: {
    put: (tx: WriteTransaction, row: Row) => tx.set(row.id, { ...row }),
  },
  pullInterval: null,
  pushDelay: 1e9,
  puller: async () => ({
    httpRequestInfo: { httpStatusCode: 200, errorMessage: '' },
    response: { cookie: 1, lastMutationIDChanges: {}, patch },
  }),
});

show({
  // It stores rows once the page is idle, and sends that to its other tabs alone.
  fill: async (rows) => {
    const stored = new Promise((resolve) => {
      new BroadcastChannel(`replicache-on-persist:${rep.name}`).onmessage = resolve;
    });
    patch = rows.map((row) => ({ op: 'put', key: row.id, value: { ...row } }));
    await rep.pull({ now: true });
    await stored;
  },
  first: (id) => rep.query(async (tx) => (await tx.get(id)) as Row | undefined),
  write: (row) => rep.mutate.put(row as never),
});

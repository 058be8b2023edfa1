/** The memory of a page for a live query whose store is in a worker. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, it } from 'vitest';
import { memory, open } from '../../src/index.js';
import { live } from '../../src/live/index.js';
import { connect } from '../../src/worker/index.js';
import { serve } from '../../src/worker/serve.js';
import { closeAll, opened, wire } from '../support/doubles/worker-wire.js';
import { until } from '../support/worlds/worker-world.js';

afterEach(closeAll);

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

it('a window that moves on keeps no rows of its old place', async () => {
  const { page, host } = wire();
  const db = await open('memory', { storage: memory() });
  await db.putMany(Array.from({ length: 500 }, (_, n) => [`r${1000 + n}`, { n }] as const));
  const served = serve({ open: async () => db, port: host });
  opened.push(() => served.close());
  const remote = await connect(page);
  opened.push(() => remote.close());
  const shown = live<{ n: number }>(remote, { offset: 0, limit: 10 });
  opened.push(() => shown.close());
  const stop = shown.subscribe(() => {});
  const isAt = (first: number) => () =>
    !shown.get().isStale && shown.get().rows[0]?.[1].n === first;
  await until(isAt(0));
  const first = new WeakRef(shown.get().rows[0] as object);
  for (let offset = 20; offset < 200; offset += 20) {
    shown.change(remote, { offset, limit: 10 });
    await until(isAt(offset));
  }
  await until(() => {
    collectGarbage();
    return first.deref() === undefined;
  });
  stop();
});

/** The first pull: its progress, whether it has ever ended, and answers that are files. */
import { expect, it } from 'vitest';
import type { Progress } from '../../../src/index.js';
import { memory, open, type Store } from '../../../src/index.js';
import type { MutatorState, PullRequest } from '../../../src/sync/mutators/index.js';
import { rest } from '../../../src/sync/rest/index.js';
import { json, ServerDouble } from '../../support/doubles/mutators-server.js';
import { failure } from '../../support/models/store-model.js';
import { bind, rowsOf, store, theirs } from '../../support/worlds/mutators-app.js';

const ROWS = Array.from({ length: 20_000 }, (_, nth) => {
  return { op: 'put', key: `k${String(nth).padStart(5, '0')}`, value: { nth } };
});
const answerOf = (patch: readonly object[], cookie: unknown = 1) =>
  JSON.stringify({ cookie, lastMutationIDChanges: {}, patch });

interface Parts {
  readonly until?: number;
  readonly end?: 'fail' | 'hang';
  readonly headers?: Readonly<Record<string, string>>;
  readonly onEnd?: () => void;
}

/** A response with a body in parts; after `until` of them it calls `onEnd`, and fails, or never goes on. */
function inParts(body: string, { until = 8, end = 'fail', headers = {}, onEnd }: Parts = {}) {
  const bytes = new TextEncoder().encode(body);
  const size = Math.ceil(bytes.length / 8);
  let nth = 0;
  const stream = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (nth === until && until < 8) {
        onEnd?.();
        if (end === 'fail') controller.error(new TypeError('terminated'));
        return end === 'hang' ? new Promise(() => {}) : undefined;
      }
      const part = bytes.subarray(nth * size, (nth + 1) * size);
      nth += 1;
      if (part.length > 0) controller.enqueue(part);
      if (nth === 8) controller.close();
      return undefined;
    },
  });
  const length = { 'content-length': String(bytes.length) };
  return new Response(stream, { headers: { ...length, ...headers } });
}

/** The two kinds of links to a server, each with its answers. */
const LINKS = [
  ['mutators', (db: Store, pull: () => Response) => bind(db, new ServerDouble(theirs), { pull })],
  ['rest', (db: Store, pull: () => Response) => db.connect(rest({ pull, push: () => undefined }))],
] as const;

it.each(LINKS)('%s report the progress of a pull, and are silent without rows', async (_, link) => {
  const db = await store();
  let answer = () => inParts(answerOf(ROWS));
  const app = await link(db, () => answer());
  const told: Progress[] = [];
  const onProgress = (progress: Progress) => void told.push(progress);
  await app.pull({ onProgress });
  expect(await db.count()).toBe(20_000);
  const fractions = told.map(({ fraction }) => fraction as number);
  expect(fractions).toEqual([...fractions].sort((a, b) => a - b));
  expect(fractions.every((fraction) => fraction > 0 && fraction <= 1)).toBe(true);
  const last = told.at(-1) as Progress;
  expect(last.fraction).toBe(1);
  expect(last.rows).toBeGreaterThanOrEqual(20_000);
  expect(last.bytes).toBeGreaterThan(100_000);
  told.length = 0;
  answer = () => json(JSON.parse(answerOf([], 2)));
  await app.pull({ onProgress });
  expect(told).toEqual([]);
  // The length counts encoded bytes, and the progress counts decoded ones.
  answer = () => inParts(answerOf(ROWS, 3), { headers: { 'content-encoding': 'x' } });
  app.onProgress(onProgress);
  app.start({ pauseMs: 0 });
  await expect.poll(() => told.at(-1)?.fraction).toBe(1);
  expect(told.slice(0, -1).every((progress) => !('fraction' in progress))).toBe(true);
  await app.stop();
});

it('a store that was never filled differs from a store that is empty at the server, in all tabs', async () => {
  const server = new ServerDouble(theirs);
  const storage = memory();
  const [db, second] = [await store({ storage }), await store({ storage })];
  const app = await bind(db, server);
  const other = await bind(second, server);
  // Rows made or dropped here are no rows of the server.
  await app.mutate.add(1);
  expect(await app.drop(app.calls()[0] as never)).toBe(true);
  expect([app.state.isFilled, other.state.isFilled]).toEqual([false, false]);
  const states: MutatorState[] = [];
  app.subscribe(() => void states.push(app.state));
  app.start({ pauseMs: 0 });
  await expect.poll(() => app.state).toMatchObject({ status: 'synced', isFilled: true });
  expect(states[0]).toMatchObject({ isFilled: false });
  expect(await db.count()).toBe(0);
  await expect.poll(() => other.state.isFilled).toBe(true);
  await app.close();
  // The rows stay until new rows of the server replace them.
  server.forget();
  await other.pull();
  expect(other.state.isFilled).toBe(true);
  expect((await bind(await store({ storage }), server)).state.isFilled).toBe(true);
});

it('rest shows it too', async () => {
  const storage = memory();
  const db = await store({ storage });
  const how = { pull: () => ({ cookie: 1, patch: [] }), push: () => undefined };
  const link = await db.connect(rest(how));
  const other = await (await store({ storage })).connect(rest(how));
  expect([link.state.isFilled, other.state.isFilled]).toEqual([false, false]);
  await link.pull();
  expect([link.state.isFilled, await db.count()]).toEqual([true, 0]);
  await expect.poll(() => other.state.isFilled).toBe(true);
  const again = await (await store({ storage })).connect(rest(how));
  expect(again.state.isFilled).toBe(true);
});

/** An app whose first pull gets a file. */
function withFile(server: ServerDouble, file: () => Response) {
  const asked: string[] = [];
  const pull = (request: PullRequest) => {
    asked.push(request.cookie === null ? 'file' : 'server');
    return request.cookie === null ? file() : json(server.pull(request));
  };
  return { asked, options: { pull } };
}

/** A server at a version, and the file of its rows at that version. */
function published() {
  const server = new ServerDouble(theirs);
  server.set(ROWS.map(({ key, value }) => [key, value]));
  const first = server.pull({
    ...{ pullVersion: 1, clientGroupID: 'g', cookie: null, profileID: 'p', schemaVersion: '' },
  }) as { cookie: unknown; patch: object[] };
  const file = JSON.stringify(first);
  // It knows cookies, and answers also a client that it has never seen.
  const pullOf = server.pull.bind(server);
  server.pull = (request) => {
    const known = { ...request, clientGroupID: 'g' };
    return pullOf(known);
  };
  server.set([['k00000', { nth: 'newer' }]]);
  return { server, file };
}

it('a file is the first pull; calls from before it stay on top, and the next pull brings newer rows', async () => {
  const { server, file } = published();
  const { asked, options } = withFile(server, () => inParts(file));
  const db = await store();
  const app = await bind(db, server, options);
  await app.mutate.openIssue({ id: '1', title: 'before' });
  await app.mutate.add(1);
  expect(await app.pull()).toMatchObject({ hasNews: true, pending: 2 });
  expect(await db.getMany(['k00000', 'count'])).toEqual([{ nth: 0 }, 1]);
  await app.pull();
  expect(await db.getMany(['k00000', 'k00001'])).toEqual([{ nth: 'newer' }, { nth: 1 }]);
  expect([await db.count(), asked]).toEqual([20_002, ['file', 'server']]);
});

it('a cut file, or a page that closes during it, leaves no row, and the next try begins again', async () => {
  const { server, file } = published();
  const storage = memory();
  let how: Parts = { until: 5 };
  const { asked, options } = withFile(server, () => inParts(file, how));
  const db = await open('app', { storage });
  const app = await bind(db, server, options);
  await expect(app.pull()).rejects.toEqual(failure('offline'));
  expect([await rowsOf(db), app.state.isFilled]).toEqual([{}, false]);
  let pulling: Promise<unknown> = Promise.resolve();
  await new Promise<void>((resolve) => {
    how = { until: 5, end: 'hang', onEnd: resolve };
    pulling = app.pull();
    pulling.catch(() => {});
  });
  await db.close();
  await expect(pulling).rejects.toEqual(failure('closed'));
  how = {};
  const again = await store({ storage });
  const bound = await bind(again, server, options);
  expect([await rowsOf(again), bound.state.isFilled]).toEqual([{}, false]);
  await bound.pull();
  expect([await again.count(), asked]).toEqual([20_000, ['file', 'file', 'file']]);
  expect(await again.health.verify()).toMatchObject({ ok: true });
});

it('one of two tabs at once loads the file', async () => {
  const { server, file } = published();
  const storage = memory();
  const { asked, options } = withFile(server, () => inParts(file));
  const dbs = [await store({ storage }), await store({ storage })];
  const apps = await Promise.all(dbs.map((db) => bind(db, server, options)));
  await Promise.all(apps.map((app) => app.pull()));
  expect(asked).toEqual(['file', 'server']);
  for (const db of dbs) await expect.poll(() => db.get('k00000')).toEqual({ nth: 'newer' });
});

/** Wrong answers of a server: each is a typed error, the queue stays, and rows stay as they were. */
import { afterEach, expect, it } from 'vitest';
import type { ErrorKind } from '../../../src/base/errors.js';
import type { Transaction } from '../../../src/engine/transaction/transaction.js';
import { memory, open, type Store } from '../../../src/index.js';
import {
  type MutatorConnection,
  mutators,
  type PullRequest,
} from '../../../src/sync/mutators/index.js';
import { PullBody } from '../../../src/sync/wire/pull-response-body.js';
import { json } from '../../support/doubles/mutators-server.js';
import { failure } from '../../support/models/store-model.js';
import { forSeeds } from '../../support/property.js';

const ours = {
  async set(tx: Transaction, { key, value }: { key: string; value: number }) {
    tx.put(key, value);
  },
};

const stores: Store[] = [];
afterEach(async () => {
  for (const db of stores.splice(0)) await db.close();
});

let answer: (request: PullRequest) => Response | Promise<Response> = () => json({});
let answerPush: () => Response | Promise<Response> = () => json({});

async function bound(maxPullBytes?: number): Promise<[Store, MutatorConnection<typeof ours>]> {
  const db = await open('app', { storage: memory() });
  stores.push(db);
  const app = await db.connect(
    mutators({
      mutators: ours,
      pull: (request) => answer(request),
      push: () => answerPush(),
      maxPullBytes,
    }),
  );
  answerPush = () => json({});
  answer = () => json(FIRST);
  await app.pull();
  await app.mutate.set({ key: 'mine', value: 1 });
  await app.push();
  return [db, app];
}

const FIRST = {
  cookie: 5,
  lastMutationIDChanges: {},
  patch: [{ op: 'put', key: 'theirs', value: 1 }],
};

async function state(db: Store, app: MutatorConnection<typeof ours>): Promise<unknown> {
  const rows: unknown[] = [];
  for await (const row of db.scan()) rows.push(row);
  return [rows, app.calls(), await db.branches.list()];
}

const page = '<!doctype html><title>Sign in to the network</title>';
const text = (body: string | ReadableStream<Uint8Array>, status = 200, type = 'application/json') =>
  new Response(body, { status, headers: { 'content-type': type } });
const bytes = (body: string) => new TextEncoder().encode(body);

/** A body that never ends. */
function endless(begin: string, part: string): () => Response {
  return () => {
    let isBegun = false;
    const stream = new ReadableStream<Uint8Array>({
      pull(controller) {
        controller.enqueue(bytes(isBegun ? part.repeat(1000) : begin));
        isBegun = true;
      },
    });
    return text(stream);
  };
}

const withClient =
  (change: (clientID: string) => object) => (app: MutatorConnection<typeof ours>) => {
    const [{ clientID } = { clientID: '' }] = app.calls();
    return json(change(clientID));
  };

type Case = readonly [
  name: string,
  code: ErrorKind,
  give: (app: MutatorConnection<typeof ours>) => Response | Promise<Response>,
];

const put = (key: string) => ({ op: 'put', key, value: 2 });

const PULLS: readonly Case[] = [
  ['a page of HTML', 'remote/response', () => text(page, 200, 'text/html; charset=utf-8')],
  ['a page that says it is JSON', 'remote/response', () => text(page)],
  ['an empty body', 'remote/response', () => text('')],
  ['an array', 'remote/response', () => json([])],
  ['a string', 'remote/response', () => json('cookie')],
  ['no members', 'remote/response', () => json({})],
  ['no cookie', 'remote/response', () => json({ lastMutationIDChanges: {}, patch: [] })],
  ['no patch', 'remote/response', () => json({ cookie: 6, lastMutationIDChanges: {} })],
  ['no ids', 'remote/response', () => json({ cookie: 6, patch: [] })],
  ['a patch that is an object', 'remote/response', () => json({ ...FIRST, cookie: 6, patch: {} })],
  ['a patch that is null', 'remote/response', () => json({ ...FIRST, cookie: 6, patch: null })],
  ['a cookie that is true', 'remote/response', () => json({ ...FIRST, cookie: true })],
  ['a cookie without order', 'remote/response', () => json({ ...FIRST, cookie: { a: 1 } })],
  [
    'ids that are an array',
    'remote/response',
    () => json({ ...FIRST, cookie: 6, lastMutationIDChanges: [] }),
  ],
  [
    'an id that is a text',
    'remote/response',
    () => json({ ...FIRST, cookie: 6, lastMutationIDChanges: { a: '1' } }),
  ],
  [
    'an id below 0',
    'remote/response',
    () => json({ ...FIRST, cookie: 6, lastMutationIDChanges: { a: -1 } }),
  ],
  [
    'an operation of another kind',
    'remote/response',
    () => json({ ...FIRST, cookie: 6, patch: [put('a'), { op: 'swap', key: 'b' }] }),
  ],
  [
    'an operation without key',
    'remote/response',
    () => json({ ...FIRST, cookie: 6, patch: [put('a'), { op: 'put', value: 1 }] }),
  ],
  [
    'an update of a number',
    'remote/response',
    () => json({ ...FIRST, cookie: 6, patch: [{ op: 'update', key: 'theirs', merge: { a: 1 } }] }),
  ],
  [
    'a patch malformed in the middle',
    'remote/response',
    () =>
      text(
        '{"cookie":6,"lastMutationIDChanges":{},"patch":[{"op":"put","key":"a","value":1},{"op":"put",,}]}',
      ),
  ],
  [
    'a patch closed by the wrong bracket',
    'remote/response',
    () =>
      text('{"cookie":6,"lastMutationIDChanges":{},"patch":[{"op":"put","key":"a","value":[1}]}}'),
  ],
  [
    'a patch that is cut off',
    'remote/response',
    () => text('{"cookie":6,"lastMutationIDChanges":{},"patch":[{"op":"put","key":"a","value":1},'),
  ],
  [
    'an answer cut off after its patch',
    'remote/response',
    () => text('{"cookie":6,"lastMutationIDChanges":{},"patch":[]'),
  ],
  [
    'two patches',
    'remote/response',
    () => text('{"cookie":6,"lastMutationIDChanges":{},"patch":[],"patch":[]}'),
  ],
  [
    'a patch under a name with an escape',
    'remote/response',
    () => text('{"cookie":6,"lastMutationIDChanges":{},"p\\u0061tch":[{"op":"clear"}]}'),
  ],
  [
    'a missing comma after the patch',
    'remote/response',
    () => text('{"patch":[{"op":"clear"}]"cookie":6,"lastMutationIDChanges":{}}'),
  ],
  [
    'something after the end',
    'remote/response',
    () => text(`${JSON.stringify({ ...FIRST, cookie: 6 })} {}`),
  ],
  ['a name that is no text', 'remote/response', () => text('{cookie:6}')],
  [
    'bytes that are no UTF-8',
    'remote/response',
    () => new Response(Uint8Array.of(0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d)),
  ],
  ['another error', 'remote/response', () => json({ error: 'Boom' })],
  [
    'a version that it does not support',
    'newer-version/format',
    () => json({ error: 'VersionNotSupported', versionType: 'schema' }),
  ],
  ['a cookie that goes back', 'rollback', () => json({ ...FIRST, cookie: 4 })],
  ['a cookie of null after another one', 'rollback', () => json({ ...FIRST, cookie: null })],
  [
    'an id that was never sent',
    'remote/response',
    withClient((id) => ({ ...FIRST, cookie: 6, lastMutationIDChanges: { [id]: 2 } })),
  ],
  [
    'ids with the cookie of before',
    'remote/response',
    withClient((id) => ({ ...FIRST, lastMutationIDChanges: { [id]: 1 } })),
  ],
  ...[{}, null, 'all', [null], [1], [{ id: 1 }], [{ clientID: 'a', id: '1' }]].map(
    (refused): Case => [
      `refusals that are ${JSON.stringify(refused)}`,
      'remote/response',
      () => json({ ...FIRST, cookie: 6, refused }),
    ],
  ),
  [
    'a refusal of a call that it does not acknowledge',
    'remote/response',
    withClient((clientID) => ({ ...FIRST, cookie: 6, refused: [{ clientID, id: 1 }] })),
  ],
  [
    'a refusal with the cookie of before',
    'remote/response',
    withClient((clientID) => ({ ...FIRST, refused: [{ clientID, id: 1 }] })),
  ],
  ['a cookie without end', 'remote/response', endless('{"cookie":"', 'x')],
  ['members without end', 'remote/response', endless('{"a":1', ',"b":1')],
  [
    'a patch without end',
    'remote/status',
    endless('{"patch":[{"op":"del","key":"a"}', ',{"op":"put","key":"a","value":1}'),
  ],
  ['spaces without end', 'remote/response', endless('{', '  ')],
  ['lists without end that are no patch', 'remote/response', endless('{"a":[]', ',"a":[]')],
  ['spaces before anything without end', 'remote/status', endless(' ', '  ')],
  ['401', 'unauthorized', () => text('', 401)],
  ['403', 'unauthorized', () => text(page, 403, 'text/html')],
  ['409', 'remote/status', () => text('', 409)],
  ['500', 'remote/status', () => text('oops', 500)],
  ['503 with a page', 'remote/status', () => text(page, 503, 'text/html')],
  ['a redirect', 'remote/status', () => text('', 302)],
  ['nothing', 'offline', () => Promise.reject(new TypeError('failed to fetch'))],
];

it.each(PULLS)('a pull of %s is %s', async (_name, code, give) => {
  const [db, app] = await bound(4 << 20);
  const before = await state(db, app);
  answer = () => give(app);
  await expect(app.pull()).rejects.toEqual(failure(code));
  expect(await state(db, app)).toEqual(before);
  // The app goes on as before.
  const [{ clientID } = { clientID: '' }] = app.calls();
  answer = () =>
    json({ cookie: '7', lastMutationIDChanges: { [clientID]: 1 }, patch: [put('mine')] });
  expect(await app.pull()).toEqual({ hasNews: true, acknowledged: 1, pending: 0 });
  expect(await db.getMany(['mine', 'theirs'])).toEqual([2, 1]);
});

const PUSHES: readonly Case[] = [
  ['a page of HTML', 'remote/response', () => text(page, 200, 'text/html')],
  ['a page that says nothing', 'remote/response', () => text(page)],
  ['an error', 'remote/response', () => json({ error: 'Boom' })],
  [
    'a version that it does not support',
    'newer-version/format',
    () => json({ error: 'VersionNotSupported', versionType: 'push' }),
  ],
  ['refusals that are no list', 'remote/response', () => json({ refused: {} })],
  [
    'a refusal of a call that was never sent',
    'remote/response',
    withClient((clientID) => ({ refused: [{ clientID, id: 2 }] })),
  ],
  ['an answer without end', 'remote/status', endless('{', ' ')],
  ['401', 'unauthorized', () => text('', 401)],
  ['409', 'remote/status', () => text('', 409)],
  ['500', 'remote/status', () => text('', 500)],
  ['nothing', 'offline', () => Promise.reject(new TypeError('failed to fetch'))],
];

it.each(PUSHES)('a push to %s is %s', async (_name, code, give) => {
  const [db, app] = await bound();
  const before = await state(db, app);
  answerPush = () => give(app);
  await expect(app.push()).rejects.toEqual(failure(code));
  expect(await state(db, app)).toEqual(before);
});

it('an answer of a push that is empty or no JSON refuses no call', async () => {
  const [, app] = await bound();
  for (const body of ['', 'OK', 'null', '[]']) {
    answerPush = () => text(body);
    await app.push();
  }
});

it('ids that go back are a rollback', async () => {
  const [db, app] = await bound();
  const [{ clientID } = { clientID: '' }] = app.calls();
  answer = () => json({ cookie: 6, lastMutationIDChanges: { [clientID]: 1, other: 9 }, patch: [] });
  await app.pull();
  const before = await state(db, app);
  answer = () => json({ cookie: 7, lastMutationIDChanges: { [clientID]: 0 }, patch: [] });
  await expect(app.pull()).rejects.toEqual(failure('rollback'));
  expect(await state(db, app)).toEqual(before);
});

it('a server that never knows the store gets its report, and the queue stays', async () => {
  const [db, app] = await bound();
  answer = () => json({ error: 'ClientStateNotFound' });
  await expect(app.pull()).rejects.toEqual(failure('conflict'));
  expect(app.calls()).toMatchObject([{ id: 1, name: 'set', args: { key: 'mine', value: 1 } }]);
  expect(await db.get('theirs')).toBe(1);
});

it('a signal ends a pull that never answers', async () => {
  const [db, app] = await bound();
  const before = await state(db, app);
  answer = () => new Promise<Response>(() => {});
  const controller = new AbortController();
  const pulling = app.pull({ signal: controller.signal });
  controller.abort();
  await expect(pulling).rejects.toEqual(failure('aborted'));
  expect(await state(db, app)).toEqual(before);
});

async function split(body: string, clears: boolean, cut: () => number): Promise<unknown[]> {
  const whole = bytes(body);
  async function* parts() {
    for (let at = 0; at < whole.length; ) {
      const length = cut();
      yield whole.subarray(at, at + length);
      at += length;
    }
  }
  const read = new PullBody(parts(), clears);
  let patch = '';
  const decoder = new TextDecoder();
  for await (const part of read.patch()) patch += decoder.decode(part, { stream: true });
  return [JSON.parse(patch), read.member('cookie'), read.member('lastMutationIDChanges')];
}

it('a body reads the same wherever it is cut', async () => {
  await forSeeds(400, async (from) => {
    const patch = Array.from({ length: from.below(4) }, () => ({ op: 'put', value: from.value() }));
    const cookie = from.pick([null, from.below(9), from.text(9), { order: 1, more: from.value() }]);
    const ids = { [from.text(5)]: from.below(100) };
    const members = from.shuffle([
      ['cookie', cookie],
      ['lastMutationIDChanges', ids],
      ['patch', patch],
      ['"odd" \\', from.value()],
      ['more', { patch: from.value(), text: '{"patch":[' }],
      ['x,"patch', [from.value()]],
    ] as [string, unknown][]);
    const body = JSON.stringify(Object.fromEntries(members), null, from.pick([0, 1]));
    const clears = from.below(2) === 0;
    const most = from.pick([1, 3, 40, 10_000]);
    const expected = [clears ? [{ op: 'clear' }, ...patch] : patch, cookie, ids];
    expect(await split(body, clears, () => 1 + from.below(most))).toEqual(
      JSON.parse(JSON.stringify(expected)),
    );
  });
});

/** The loop that keeps a store in sync with its server, and its requests. */
import { expect, it, vi } from 'vitest';
import { memory } from '../../../src/index.js';
import type { MutatorState, PullRequest, PushRequest } from '../../../src/sync/mutators/index.js';
import { json, ServerDouble } from '../../support/doubles/mutators-server.js';
import { failure } from '../../support/models/store-model.js';
import { bind, rowsOf, store, theirs } from '../../support/worlds/mutators-app.js';

it('a loop sends calls, pulls after a poke, and reports its state', async () => {
  const server = new ServerDouble(theirs);
  const storage = memory();
  let isOffline = false;
  const line = (answer: () => object) => {
    if (isOffline) throw new TypeError('network error');
    return json(answer());
  };
  const options = {
    pull: (request: PullRequest) => line(() => server.pull(request)),
    push: (request: PushRequest) => line(() => server.push(request)),
  };
  const [db, second] = [await store({ storage }), await store({ storage })];
  const app = await bind(db, server, options);
  const other = await bind(second, server, options);
  const states: MutatorState[] = [];
  let poke = () => {};
  const subscribe = (call: () => void) => {
    poke = call;
    return () => {};
  };
  app.subscribe(() => void states.push(app.state));
  app.start({ pauseMs: 1, subscribe });
  await expect.poll(() => app.state.status).toBe('synced');
  const waiting = other;
  waiting.start({ pauseMs: 1 });
  await app.mutate.add(1);
  await expect.poll(() => server.rows.count).toBe(1);
  await expect
    .poll(() => app.state)
    .toEqual({
      ...{ status: 'synced', isPending: false, pendingCalls: 0, isFilled: true, isLeader: true },
      ...{ error: undefined, retryAt: undefined },
      ...{ rejected: [], canUndo: false, canRedo: false },
    });
  // The tab that speaks for all sends the other tab's calls.
  await other.mutate.add(1);
  await expect.poll(() => server.rows.count).toBe(2);
  await expect.poll(() => other.calls()).toEqual([]);
  expect(waiting.state).toMatchObject({ status: 'waiting', isLeader: false });
  server.set([['news', 1]]);
  poke();
  await expect.poll(() => second.get('news')).toBe(1);
  isOffline = true;
  await app.mutate.add(1);
  await expect.poll(() => app.state).toMatchObject({ status: 'offline', pendingCalls: 1 });
  isOffline = false;
  poke();
  await expect.poll(() => app.state).toMatchObject({ status: 'synced', pendingCalls: 0 });
  expect(states.map(({ status }) => status)).toEqual(
    expect.arrayContaining(['syncing', 'synced', 'offline']),
  );
  await app.close();
  // Now the other one speaks.
  await other.mutate.add(1);
  await expect.poll(() => server.rows.count).toBe(4);
  await other.close();
});

it('a loop reports its first state, also when calls waited before it began', async () => {
  const server = new ServerDouble(theirs);
  const storage = memory();
  const offline = () => Promise.reject(new TypeError('network error'));
  const how = { pull: offline, push: offline };
  const app = await bind(await store({ storage }), server, how);
  app.start();
  await app.mutate.add(1);
  await expect.poll(() => app.state.status).toBe('offline');
  // It waits for the other one, so that only its first state comes.
  const second = await bind(await store({ storage }), server, how);
  await expect(second.pull()).rejects.toEqual(failure('offline'));
  const states: MutatorState[] = [];
  expect(second.state).toMatchObject({ status: 'stopped', isPending: true, pendingCalls: 1 });
  second.subscribe(() => void states.push(second.state));
  second.start();
  expect(states).toMatchObject([{ status: 'waiting', pendingCalls: 1, isFilled: false }]);
  await second.close();
  await app.close();
});

it('news arrive while the server takes no calls', async () => {
  const server = new ServerDouble(theirs);
  const db = await store();
  let isBroken = false;
  const app = await bind(db, server, {
    push: (request: PushRequest) =>
      isBroken ? new Response('no such mutator', { status: 501 }) : json(server.push(request)),
  });
  const loop = app;
  loop.start({ pauseMs: 0 });
  await expect.poll(() => app.state.status).toBe('synced');
  isBroken = true;
  await app.mutate.add(1);
  await expect.poll(() => app.state).toMatchObject({ status: 'failing', pendingCalls: 1 });
  server.set([['news', 1]]);
  loop.poke();
  await expect.poll(() => db.get('news')).toBe(1);
  // The rows come before the push of the round, which fails again.
  await expect
    .poll(() => app.state)
    .toMatchObject({ status: 'failing', pendingCalls: 1, error: { status: 501 } });
  isBroken = false;
  loop.poke();
  await expect.poll(() => app.state).toMatchObject({ status: 'synced', pendingCalls: 0 });
  expect(server.rows.count).toBe(1);
  await app.close();
});

it('a url gets POSTs of JSON, with the token', async () => {
  const server = new ServerDouble(theirs);
  const seen: [string, RequestInit][] = [];
  let valid = 'Bearer 1';
  vi.stubGlobal('fetch', async (url: string, init: RequestInit) => {
    seen.push([url, init]);
    const { Authorization } = init.headers as Record<string, string>;
    if (Authorization !== valid) return new Response('no', { status: 401 });
    const request = JSON.parse(new TextDecoder().decode(init.body as Uint8Array));
    return json(url === 'https://app.example/pull' ? server.pull(request) : server.push(request));
  });
  try {
    let asked = 0;
    const db = await store();
    const app = await bind(db, server, {
      pull: { url: 'https://app.example/pull', headers: { 'X-Tenant': '7' } },
      push: { url: 'https://app.example/push' },
      auth: async () => `Bearer ${++asked}`,
    });
    await app.mutate.add(1);
    await app.push();
    valid = 'Bearer 2';
    await app.pull();
    expect([asked, seen.length]).toEqual([2, 3]);
    expect(seen[1]?.[1].headers).toMatchObject({
      'X-Tenant': '7',
      'Content-Type': 'application/json',
    });
    expect(await rowsOf(db)).toEqual({ count: 1 });
    // The app does not ask again for a token that is refused twice.
    valid = 'none';
    await expect(app.pull()).rejects.toEqual(failure('unauthorized'));
    expect([asked, seen.length]).toEqual([3, 5]);
  } finally {
    vi.unstubAllGlobals();
  }
});

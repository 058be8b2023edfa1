/** Calls without an effect, overtaken by others or refused by the server: the state lists each until it is dismissed. */
import { expect, it, onTestFinished, vi } from 'vitest';
import { memory, open } from '../../../src/index.js';
import type {
  MutatorState,
  PullRequest,
  PushRequest,
  RejectedCall,
} from '../../../src/sync/mutators/index.js';
import { json, ServerDouble } from '../../support/doubles/mutators-server.js';
import { failure, SOON } from '../../support/models/store-model.js';
import { bind, rowsOf, store, theirs } from '../../support/worlds/mutators-app.js';
import { Disk } from '../../support/worlds/mutators-world.js';

/** The rejected calls in the state of a connection. */
const rejectedIn = ({ state }: { readonly state: MutatorState }) =>
  state.rejected.map(({ name, args, isSent, isPending, error, why }) => ({
    ...{ name, args, isSent, isPending, why },
    error: (error as Error).message,
  }));

const ISSUE = { title: 'theirs', isClosed: false };

/** A server that records its requests, and the options that lead there; the network may be away. */
function line(server: ServerDouble) {
  const seen: ('pull' | 'push')[] = [];
  const world = {
    ...{ seen, isOffline: false },
    fault: (_: 'pull' | 'push'): Response | undefined => undefined,
    before: (_: 'pull' | 'push') => {},
  };
  const send = (what: 'pull' | 'push', answer: () => object) => {
    if (world.isOffline) throw new TypeError('network error');
    seen.push(what);
    world.before(what);
    return world.fault(what) ?? json(answer());
  };
  const options = {
    pull: (request: PullRequest) => send('pull', () => server.pull(request)),
    push: (request: PushRequest) => send('push', () => server.push(request)),
  };
  return { world, options };
}

it('a call that others have overtaken while offline is reported, and never sent', async () => {
  const server = new ServerDouble(theirs);
  server.set([['issue/0', ISSUE]]);
  const { world, options } = line(server);
  const db = await store();
  const app = await bind(db, server, options);
  const loop = app;
  loop.start({ pauseMs: 0 });
  await expect.poll(() => app.state.status).toBe('synced');
  world.isOffline = true;
  loop.poke();
  await expect.poll(() => app.state.status).toBe('offline');
  await app.mutate.closeIssue({ id: '0' });
  await app.mutate.add(1);
  server.set([['issue/0', undefined]]);
  world.seen.length = 0;
  world.isOffline = false;
  loop.poke();
  await expect.poll(() => app.state).toMatchObject({ status: 'synced', pendingCalls: 0 });
  expect(rejectedIn(app)).toEqual([
    {
      ...{ name: 'closeIssue', args: { id: '0' }, isSent: false, isPending: false },
      ...{ why: undefined, error: 'no such issue' },
    },
  ]);
  expect([server.done.map(({ id, name }) => [id, name]), server.refused]).toEqual([
    [[1, 'add']],
    [],
  ]);
  // The loop pulls once more if a call has woken it just before the poke.
  expect(world.seen.join(' ')).toMatch(/^pull push pull( pull)*$/);
  expect(await rowsOf(db)).toEqual({ count: 1 });
  await app.close();
});

it('a loop pulls before its first push, and pushes at once after a commit when all was well', async () => {
  // Time does not wake the loop: only commits and pokes do.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const server = new ServerDouble(theirs);
  const { world, options } = line(server);
  const app = await bind(await store(), server, options);
  await app.mutate.add(1);
  const loop = app;
  loop.start({ pauseMs: 0 });
  await expect.poll(() => app.state).toMatchObject({ status: 'synced', pendingCalls: 0 });
  expect(world.seen.splice(0)).toEqual(['pull', 'push', 'pull']);
  await app.mutate.add(1);
  await expect.poll(() => server.rows.count).toBe(2);
  await expect.poll(() => app.state).toMatchObject({ status: 'synced', pendingCalls: 0 });
  expect(world.seen.splice(0)).toEqual(['push', 'pull']);
  world.fault = (what) => (what === 'push' ? json({}, 503) : undefined);
  await app.mutate.add(1);
  await expect.poll(() => app.state.status).toBe('failing');
  world.fault = () => undefined;
  world.seen.length = 0;
  loop.poke();
  await expect.poll(() => app.state).toMatchObject({ status: 'synced', pendingCalls: 0 });
  expect(world.seen).toEqual(['pull', 'push', 'pull']);
  await app.close();
});

it('calls are sent after one pull, though others write before each answer', async () => {
  const server = new ServerDouble(theirs);
  const { world, options } = line(server);
  let writes = 0;
  world.before = () => server.set([['theirs', ++writes]]);
  const app = await bind(await store(), server, options);
  await app.mutate.add(1);
  app.start({ pauseMs: 0, everyMs: 0 });
  await expect.poll(() => server.rows.count).toBe(1);
  expect(world.seen.indexOf('push')).toBe(1);
  await app.close();
});

it('calls reach a server that answers no pull, and the app gets its error', async () => {
  const server = new ServerDouble(theirs);
  const { world, options } = line(server);
  world.fault = (what) => (what === 'pull' ? json({}, 500) : undefined);
  const app = await bind(await store(), server, options);
  await app.mutate.add(1);
  app.start({ pauseMs: 0 });
  await expect.poll(() => app.state).toMatchObject({ status: 'failing', error: { status: 500 } });
  expect(server.rows).toEqual({ count: 1 });
  await app.close();
});

it('a call that may have reached the server stays when it fails here: the server decides', async () => {
  const server = new ServerDouble(theirs);
  server.set([['issue/0', ISSUE]]);
  const { world, options } = line(server);
  const app = await bind(await store(), server, options);
  await app.pull();
  await app.mutate.closeIssue({ id: '0' });
  world.before = (what) => {
    if (what === 'push') throw new TypeError('Failed to fetch: it is lost');
  };
  await expect(app.push()).rejects.toEqual(failure('offline'));
  world.before = () => {};
  server.tellsRefused = true;
  server.set([['issue/0', undefined]]);
  await app.pull();
  const call = { name: 'closeIssue', args: { id: '0' }, isSent: true };
  const first = { ...call, isPending: true, why: undefined, error: 'no such issue' };
  expect(rejectedIn(app)).toEqual([first]);
  expect(app.calls()).toHaveLength(1);
  // The server has not decided yet.
  expect(await app.dismiss(app.state.rejected[0] as RejectedCall)).toBe(false);
  expect(rejectedIn(app)).toEqual([first]);
  await app.push();
  await app.pull();
  const message = 'the server refuses closeIssue: no such issue';
  const last = { ...call, isPending: false, why: 'no such issue', error: message };
  expect(rejectedIn(app)).toEqual([last]);
  expect(app.calls()).toEqual([]);
});

it('a refused call is listed in all tabs, with its reason, when its effect is gone, until one dismisses it', async () => {
  const server = new ServerDouble(theirs);
  server.tellsRefused = true;
  const storage = memory();
  const [db, second] = [await store({ storage }), await store({ storage })];
  const app = await bind(db, server);
  const rows: unknown[] = [];
  app.subscribe(async () => {
    if (app.state.rejected.length > 0) rows.push(await rowsOf(db));
  });
  const other = await bind(second, server);
  await app.mutate.openIssue({ id: '1', title: 'refused' });
  await app.mutate.add(1);
  await other.mutate.openIssue({ id: '2', title: 'refused' });
  await app.push();
  expect(rejectedIn(app)).toEqual([]);
  await app.pull();
  const refused = (id: string) => ({
    ...{ name: 'openIssue', args: { id, title: 'refused' }, isSent: true, isPending: false },
    ...{ why: 'refused', error: 'the server refuses openIssue: refused' },
  });
  const both = [refused('1'), refused('2')];
  expect(rejectedIn(app)).toEqual(both);
  await expect.poll(() => rejectedIn(other), SOON).toEqual(both);
  await expect.poll(() => rows.length, SOON).toBeGreaterThan(0);
  for (const seen of rows) expect(seen).toEqual({ count: 1 });
  const { rejected } = app.state;
  server.set([['more', 1]]);
  await other.pull();
  await app.pull();
  // An unchanged list is the same one.
  expect(app.state.rejected).toBe(rejected);
  const [first] = other.state.rejected;
  expect(await other.dismiss(first as RejectedCall)).toBe(true);
  expect(rejectedIn(other)).toEqual([refused('2')]);
  await expect.poll(() => rejectedIn(app), SOON).toEqual([refused('2')]);
  expect(await app.dismiss(first as RejectedCall)).toBe(false);
  const again = await bind(await store({ storage }), server);
  expect(rejectedIn(again)).toEqual([refused('2')]);
});

it.each([undefined, null, {}, { place: -1 }, { place: '1' }, { place: 0.5 }])(
  'dismiss refuses %s',
  async (call) => {
    const app = await bind(await store(), new ServerDouble(theirs));
    await expect(app.dismiss(call as never)).rejects.toEqual(failure('invalid-argument'));
    expect(await app.dismiss({ place: 7 })).toBe(false);
  },
);

it('refusals also come with the answer of a push, and are reported after the acknowledgement', async () => {
  const server = new ServerDouble(theirs);
  const app = await bind(await store(), server, {
    push(request) {
      server.push(request);
      const [{ clientID } = { clientID: '' }] = request.mutations;
      const refused = [
        { clientID, id: 1, why: { limit: 3 } },
        { clientID: 'another', id: 7 },
        { clientID, id: 2 },
      ];
      return json({ refused });
    },
  });
  for (const id of ['1', '2']) await app.mutate.openIssue({ id, title: 'refused' });
  await app.push();
  expect(rejectedIn(app)).toEqual([]);
  // The server reports it again.
  server.tellsRefused = true;
  await app.pull();
  expect(rejectedIn(app).map(({ why, error }) => [why, error])).toEqual([
    [{ limit: 3 }, 'the server refuses openIssue: {"limit":3}'],
    [null, 'the server refuses openIssue'],
  ]);
});

it('a call that is sent again to a server without its record is refused by that server alone', async () => {
  let title = 'refused';
  const server = new ServerDouble({
    openIssue(rows) {
      if (title === 'refused') throw new Error('refused');
      rows.set('issue/1', title);
    },
  });
  const app = await bind(await store(), server, {
    push(request) {
      server.push(request);
      const refused = title === 'refused' ? request.mutations : [];
      return json({ refused: refused.map(({ clientID, id }) => ({ clientID, id })) });
    },
  });
  await app.pull();
  await app.mutate.openIssue({ id: '1', title: 'fine' });
  await app.push();
  server.forget();
  title = 'taken';
  await app.pull();
  await app.push();
  await app.pull();
  expect([rejectedIn(app), app.calls(), server.rows]).toEqual([[], [], { 'issue/1': 'taken' }]);
});

it('rejected calls stay after the page was closed', async () => {
  const server = new ServerDouble(theirs);
  server.tellsRefused = true;
  server.set([['issue/0', ISSUE]]);
  const storage = memory();
  const db = await store({ storage });
  const app = await bind(db, server);
  await app.pull();
  await app.mutate.openIssue({ id: '1', title: 'refused' });
  await app.push();
  await app.pull();
  await app.mutate.closeIssue({ id: '0' });
  server.set([['issue/0', undefined]]);
  await app.pull();
  expect(app.calls()).toEqual([]);
  const before = rejectedIn(app);
  await db.close();
  // No network is needed.
  const later = await bind(await store({ storage }), server);
  expect(rejectedIn(later)).toEqual(before);
  expect(before.map(({ name, error }) => [name, error])).toEqual([
    ['openIssue', 'the server refuses openIssue: refused'],
    ['closeIssue', 'no such issue'],
  ]);
  for (const call of later.state.rejected) expect(await later.dismiss(call)).toBe(true);
  await later.pull();
  expect(rejectedIn(later)).toEqual([]);
});

it('no crash during a pull loses a rejection', async () => {
  const disk = new Disk().tab();
  const server = new ServerDouble(theirs);
  server.tellsRefused = true;
  let crashes = 0;
  for (let writes = 0; writes < 6; writes++) {
    server.set([[`issue/${writes}`, ISSUE]]);
    const db = await open('app', { storage: disk.storage });
    const app = await bind(db, server);
    await app.pull();
    await app.mutate.openIssue({ id: 'x', title: 'refused' });
    await app.push();
    await app.mutate.closeIssue({ id: `${writes}` });
    server.set([[`issue/${writes}`, undefined]]);
    disk.left = writes;
    crashes += await app.pull().then(
      () => 0,
      () => 1,
    );
    await db.close().catch(() => {});
    disk.left = Number.POSITIVE_INFINITY;
    const again = await open('app', { storage: disk.storage });
    const bound = await bind(again, server);
    await bound.pull();
    const names = () => rejectedIn(bound).map(({ name }) => name);
    expect(names()).toEqual(['openIssue', 'closeIssue']);
    expect([bound.calls(), await rowsOf(again)]).toEqual([[], server.rows]);
    server.set([['more', writes]]);
    await bound.pull();
    expect(names()).toEqual(['openIssue', 'closeIssue']);
    for (const call of bound.state.rejected) await bound.dismiss(call);
    expect(names()).toEqual([]);
    await again.close();
  }
  expect(crashes).toBeGreaterThan(1);
  expect(server.done).toEqual([]);
});

it('calls behind a call that has left take its id, and calls made in the meantime stay', async () => {
  const server = new ServerDouble(theirs);
  const issues = Array.from({ length: 50 }, (_, nth) => `issue/${nth}`);
  server.set(issues.map((key) => [key, ISSUE]));
  const storage = memory();
  const [db, second] = [await store({ storage }), await store({ storage })];
  const [app, other] = [await bind(db, server), await bind(second, server)];
  await app.pull();
  for (let nth = 0; nth < 50; nth++) {
    await app.mutate.closeIssue({ id: `${nth}` });
    await app.mutate.add(1);
  }
  server.set(issues.filter((_, nth) => nth % 2 === 0).map((key) => [key, undefined]));
  const calls = Array.from({ length: 20 }, () => other.mutate.add(1));
  await Promise.all([app.pull(), other.pull(), ...calls]);
  await expect.poll(() => rejectedIn(app).length, SOON).toBe(25);
  expect(app.calls().map(({ id }) => id)).toEqual(Array.from({ length: 95 }, (_, nth) => nth + 1));
  await other.push();
  await other.pull();
  expect([server.done.length, server.refused.length, server.rows.count]).toEqual([95, 0, 70]);
  expect(await rowsOf(second)).toEqual(server.rows);
});

/** An app's own remote with answers outside the interface: it is refused at once, and no row is lost. */
import { describe, expect, it } from 'vitest';
import { serveRemote } from '../../../../server/src/serve-remote.js';
import { memory, open } from '../../../src/index.js';
import { bucket } from '../../../src/sync/link/bucket.js';
import { memoryRemote, probeRemote, type Remote } from '../../../src/sync/remote/index.js';
import { ofKind } from '../../support/error-kind.js';
import { HOSTILE } from '../../support/hostile-values.js';

const JUNK = Object.entries({
  ...HOSTILE,
  'a state of its own': () => ({ state: 'done' }),
  'a swap without a token': () => ({ state: 'swapped' }),
  'a lost swap with another head': () => ({ state: 'lost', head: 'none' }),
  'an unknown swap without a cause': () => ({ state: 'unknown' }),
  'a head without bytes': () => ({ token: '"1"', modifiedMs: 1 }),
  'a head without a token': () => ({ bytes: new Uint8Array(3), modifiedMs: 1 }),
  'a head of no time': () => ({ bytes: new Uint8Array(3), token: '"1"', modifiedMs: 'now' }),
  'a list of names': () => ['p/x'],
});

/** A remote with one call that answers `make()`, and the number of those answers. */
function lying(over: Remote, call: keyof Remote, make: () => unknown) {
  const made = { calls: 0 };
  const lie = async () => {
    made.calls += 1;
    return make();
  };
  return { remote: { ...over, [call]: lie } as Remote, made };
}

/** Answers that the interface has. */
const SOUND: Readonly<Record<string, RegExp>> = {
  readHead: /^(undefined)$/,
  readHeadSince: /^(undefined)$/,
  get: /^(undefined|three bytes)$/,
  list: /^(an empty list)$/,
};

/** Their promises reject by themselves, with the error of the remote's own code. */
const OWN_ERROR = /proxy|promise/;

async function store(remote: Remote) {
  const db = await open('app', { storage: memory() });
  await db.put('mine', 1);
  return { db, link: await db.connect(bucket(remote, { probe: false })) };
}

const error = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (cause) => cause,
  );

describe('a remote that breaks its contract', () => {
  const kinds: [keyof Remote, string][] = [
    ['swapHead', 'remote/unsafe'],
    ['readHead', 'remote/status'],
    ['readHeadSince', 'remote/status'],
    ['put', 'remote/status'],
    ['get', 'remote/status'],
    ['list', 'remote/status'],
  ];
  it.each(kinds)('by %s is refused with the first answer', async (call, code) => {
    const there = memoryRemote();
    const other = await store(there);
    await other.db.putMany(Array.from({ length: 3000 }, (_, nth) => [`${nth}`, { nth }] as const));
    await other.link.push();
    for (const [kind, make] of JUNK) {
      if (SOUND[call]?.test(kind) || OWN_ERROR.test(kind)) continue;
      // Only the very first push puts an object.
      const { remote, made } = lying(call === 'put' ? memoryRemote() : there, call, make);
      const { db, link } = await store(remote);
      await db.put('own', kind);
      // Then the pull asks whether its head is the newest.
      if (call === 'readHeadSince') await link.pull();
      const works = {
        swapHead: () => link.push(),
        put: () => link.push(),
        list: () => link.collect({ graceMs: 3_600_000 }),
      };
      const run = works[call as keyof typeof works] ?? (() => link.pull());
      expect(await error(run()), `${call}: ${kind}`).toMatchObject({
        ...ofKind(code),
        retryable: false,
      });
      expect(made.calls, `${call}: ${kind}`).toBe(1);
      expect(await db.get('own')).toBe(kind);
      await db.close();
    }
    await other.db.close();
  });

  it('is refused by the probe and by the server, and any other value by all calls', async () => {
    const { remote } = lying(memoryRemote(), 'swapHead', () => true);
    expect(await error(probeRemote(remote))).toMatchObject({ code: 'remote', detail: 'unsafe' });
    const server = await serveRemote(remote);
    const response = await fetch(`${server.url}h/main`, {
      method: 'PUT',
      headers: { 'If-None-Match': '*' },
      body: new Uint8Array(3),
    });
    expect(response.status).toBe(500);
    await server.close();
    const db = await open('app', { storage: memory() });
    for (const none of [undefined, null, 5, {}, { readHead: () => {} }, Promise.resolve(remote)]) {
      expect(await error(db.connect(bucket(none as never)))).toMatchObject({
        ...ofKind('invalid-argument'),
      });
      expect(await error(probeRemote(none as never))).toMatchObject(ofKind('invalid-argument'));
      expect(await error(serveRemote(none as never))).toMatchObject(ofKind('invalid-argument'));
    }
    await db.close();
  });
});

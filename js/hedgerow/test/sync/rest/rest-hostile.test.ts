/** Wrong answers of a server of plain rows: each is a typed error, and rows and changes stay as they were. */
import { afterEach, describe, expect, it } from 'vitest';
import { memory, open, type Store } from '../../../src/index.js';
import { type RestConnection, type RestOptions, rest } from '../../../src/sync/rest/index.js';
import { RestDouble } from '../../support/doubles/rest-server.js';
import { failure } from '../../support/models/store-model.js';
import { rowsOf } from '../../support/worlds/sync-devices.js';

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

const html = '<!doctype html><title>Sign in</title>';
const text = (body: string, status = 200, type = 'application/json') =>
  new Response(status === 204 ? null : body, { status, headers: { 'Content-Type': type } });
const json = (value: unknown, status = 200) => text(JSON.stringify(value), status);
const put = { op: 'put', key: 'x', value: 1 };

/** A store with a pulled row and a waiting change. */
async function bound(answers: {
  pull?: () => Response;
  push?: () => Response;
  options?: Partial<RestOptions>;
}): Promise<[Store, RestConnection, () => Promise<void>]> {
  const server = new RestDouble();
  server.set({ theirs: 1 });
  const db = await open('app', { storage: memory() });
  ends.push(() => db.close());
  let isHostile = false;
  const link = await db.connect(
    rest({
      pull: (request) => (isHostile && answers.pull ? answers.pull() : server.pull(request)),
      push: (request) => (isHostile && answers.push ? answers.push() : server.push(request)),
      ...answers.options,
    }),
  );
  await link.pull();
  await db.put('mine', 1);
  isHostile = true;
  const checkUnchanged = async () => {
    expect(await rowsOf(db)).toEqual({ theirs: 1, mine: 1 });
    expect(await link.isPending()).toBe(true);
    expect((await db.health.verify()).faults).toEqual([]);
    isHostile = false;
    server.set({ later: 1 });
    await link.pull();
    await link.push();
    expect(server.rows).toEqual({ later: 1, mine: 1, theirs: 1 });
    expect(await rowsOf(db)).toEqual(server.rows);
  };
  return [db, link, checkUnchanged];
}

describe('a pull', () => {
  it.each<[string, () => Response, string]>([
    ['a page', () => text(html, 200, 'text/html'), 'remote/response'],
    ['a page that says to be JSON', () => text(html), 'remote/response'],
    ['nothing', () => text(''), 'remote/response'],
    ['a list', () => json([put]), 'remote/response'],
    ['half an answer', () => text('{"cookie":2,"patch":[{"op":"put","key":"x"'), 'remote/response'],
    ['an error', () => json({ error: 'busy', cookie: 2, patch: [] }), 'remote/response'],
    ['no cookie', () => json({ patch: [put] }), 'remote/response'],
    ['null as cookie', () => json({ cookie: null, patch: [put] }), 'remote/response'],
    ['no patch', () => json({ cookie: 2 }), 'remote/response'],
    ['a patch that is no list', () => json({ cookie: 2, patch: { x: 1 } }), 'remote/response'],
    [
      'a wrong operation behind a right one',
      () => json({ cookie: 2, patch: [put, { op: 'drop' }] }),
      'remote/response',
    ],
    [
      'a put without a value',
      () => json({ cookie: 2, patch: [{ op: 'put', key: 'x' }] }),
      'remote/response',
    ],
    [
      'a key that is no string',
      () => json({ cookie: 2, patch: [{ op: 'delete', key: 7 }] }),
      'remote/response',
    ],
    [
      'more than it may',
      () => json({ cookie: 2, patch: [{ ...put, value: 'x'.repeat(5000) }] }),
      'remote/status',
    ],
    ['401', () => json({}, 401), 'unauthorized'],
    ['403', () => json({}, 403), 'unauthorized'],
    ['404', () => json({}, 404), 'remote/status'],
    ['410', () => json({}, 410), 'remote/gone'],
    ['503', () => json({}, 503), 'remote/status'],
  ])('changes no row after the answer %s', async (_, pull, code) => {
    const [, link, checkUnchanged] = await bound({ pull, options: { maxPullBytes: 4000 } });
    await expect(link.pull()).rejects.toEqual(failure(code as never));
    await checkUnchanged();
  });
});

describe('a push', () => {
  it.each<[string, () => Response, string]>([
    ['a page', () => text(html, 200, 'text/html'), 'remote/response'],
    ['a page that says to be JSON', () => text(html), 'remote/response'],
    ['an error', () => json({ error: 'busy' }), 'remote/response'],
    ['a refusal of what was not sent', () => json({ refused: ['theirs'] }), 'remote/response'],
    ['a refusal of nothing', () => json({ refused: [null] }), 'remote/response'],
    ['a refusal that is no list', () => json({ refused: 'mine' }), 'remote/response'],
    ['more than is read', () => text(`"${'x'.repeat(2 << 20)}"`), 'remote/status'],
    ['401', () => json({}, 401), 'unauthorized'],
    ['500', () => json({}, 500), 'remote/status'],
  ])('changes no row after the answer %s', async (_, push, code) => {
    const [, link, checkUnchanged] = await bound({ push });
    await expect(link.push()).rejects.toEqual(failure(code as never));
    await checkUnchanged();
  });

  it('ends if the server always answers 409', async () => {
    let tries = 0;
    const push = () => {
      tries += 1;
      return json({}, 409);
    };
    const [, link, checkUnchanged] = await bound({ push });
    const fault = await link.push().catch((cause: unknown) => cause);
    expect(fault).toEqual(failure('conflict'));
    expect(String(fault)).toContain('does its pull bring the rows that differ');
    expect(tries).toBe(21);
    await checkUnchanged();
  });
});

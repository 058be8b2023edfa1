/** Messages that a page of ours never sends do no harm, and reach only the calls of a store. */
import { afterEach, describe, expect, it } from 'vitest';
import { memory, open, rowType, table } from '../../src/index.js';
import {
  type ArgumentRef,
  CALL,
  CALLS,
  FEED,
  HELLO,
  NO,
  OK,
  PROTOCOL,
  RAN,
  RUN,
  STOP,
} from '../../src/worker/protocol.js';
import { serve } from '../../src/worker/serve.js';
import { closeAll, opened, wire } from '../support/doubles/worker-wire.js';

afterEach(closeAll);

const issues = table({ schema: rowType<{ id: string; title: string }>(), key: 'id' });

type Answer = readonly [tag: number, id: number, ...rest: unknown[]];

/** A page that sends arbitrary messages. */
async function page() {
  const { page: port, host } = wire();
  const db = await open('hostile', { storage: memory(), tables: { issues } });
  const served = serve({ open: async () => db, port: host });
  opened.push(() => served.close());
  const waiting = new Map<number, (answer: Answer) => void>();
  const answers: Answer[] = [];
  port.addEventListener('message', ({ data }) => {
    for (const answer of data as Answer[]) {
      answers.push(answer);
      waiting.get(answer[1])?.(answer);
    }
  });
  port.start();
  const send = (...messages: unknown[]) => port.postMessage(messages);
  let last = 100;
  send([HELLO, PROTOCOL, undefined]);
  const call = (
    path: unknown,
    {
      target = 0,
      refs = [] as unknown,
      id = ++last,
    }: Partial<{ target: unknown; refs: unknown; id: number }> = {},
  ) =>
    new Promise<Answer>((resolve) => {
      waiting.set(id, resolve);
      send([CALL, id, target, path, refs]);
    });
  // It answers valid calls.
  const works = async () => {
    const [tag, , value] = await call([['count']]);
    return tag === OK && value === 0;
  };
  await expect.poll(() => answers.length).toBe(1);
  return { call, send, works, answers, served };
}

const refusedWith = (code: string) => [
  NO,
  expect.any(Number),
  expect.objectContaining({ kind: code }),
];

describe('a page', () => {
  const INTERNALS = [
    'from',
    'handle',
    'checkOpen',
    'jobOf',
    'run',
    'readable',
    'constructor',
    'prototype',
    '__proto__',
    '__defineGetter__',
    'hasOwnProperty',
    'toString',
    'then',
    'writer',
    'remote',
    'op',
    'place',
    'spec',
    'size',
    'values',
    'each',
    '',
    0,
    null,
    undefined,
    {},
    [],
    ['get'],
  ];

  it.each(INTERNALS)('reaches no %j of a store', async (name) => {
    const { call, works } = await page();
    expect(await call([[name]])).toEqual(refusedWith('invalid-argument'));
    expect(await call([[name, 'constructor']])).toEqual(refusedWith('invalid-argument'));
    expect(await call([[name], ['get', 'a']])).toEqual(refusedWith('invalid-argument'));
    expect(await works()).toBe(true);
  });

  it.each([
    'place',
    'spec',
    'keyOf',
    'selected',
    'constructor',
    '__proto__',
    'filter',
    'source',
    'op',
  ])('reaches no %s of a table or a query', async (name) => {
    const { call, works } = await page();
    for (const start of [[['issues']], [['issues'], ['all']]])
      expect(await call([...start, [name]])).toEqual(refusedWith('invalid-argument'));
    expect(await works()).toBe(true);
  });

  it.each([
    [undefined],
    [null],
    [5],
    ['count'],
    [{}],
    [[]],
    [[[]]],
    [[5]],
    [['count']],
    [[['count'], ['count']]],
    [[['issues']]],
    [[['scan']]],
    [[['get', 'a'], ['then']]],
    [[['scan'], ['scan']]],
    [[['issues', 'extra'], ['count'], ['count']]],
    [{ length: 1, 0: ['count'] }],
  ])('is refused for the path %j', async (path) => {
    const { call, works } = await page();
    const [tag, , error] = await call(path);
    expect([tag, typeof (error as Error).message]).toEqual([NO, 'string']);
    expect(await works()).toBe(true);
  });

  it.each([1, -1, -2, 1e9, Number.NaN, '0', null, {}, [0]])(
    'has no object with the number %j',
    async (target) => {
      const { call, works } = await page();
      const [tag] = await call([['get', 'a']], { target });
      expect(tag).toBe(NO);
      expect(await works()).toBe(true);
    },
  );

  it('cannot close the store of others, nor run a value that is no function', async () => {
    const { call, works } = await page();
    expect(await call([['close']])).toEqual(refusedWith('invalid-argument'));
    expect(await call([['watch', {}]])).toEqual(refusedWith('invalid-argument'));
    expect(await call([['health'], ['subscribe', 5]])).toEqual(refusedWith('invalid-argument'));
    expect((await call([['transaction']], { refs: [[0, 1, undefined, 'callback', 0]] }))[0]).toBe(
      NO,
    );
    expect(await works()).toBe(true);
  });

  it.each([
    [[0, 0, undefined, 'signal', 0]],
    [[5, 1, undefined, 'signal', 0]],
    [[0, 9, undefined, 'signal', 0]],
    [['__proto__', 1, undefined, 'signal', 0]],
    [[0, '__proto__', undefined, 'signal', 0]],
    [[0, 1, '__proto__', 'signal', 0]],
    [['constructor', 0.5, undefined, 'signal', 0]],
    [[0, 1, 'constructor', 'handle', 0]],
    [[0, 1, undefined, 'handle', 0]],
    [[0, 1, undefined, 'nonsense', 0]],
    ['nonsense'],
    [5],
  ])('that places %j does no harm', async (ref) => {
    const { call, works } = await page();
    await call([['get', 'a']], { refs: [ref as unknown as ArgumentRef] });
    await call([['get', { a: 1 }]], { refs: ref });
    expect(await works()).toBe(true);
    expect(({} as { signal?: unknown }).signal).toBeUndefined();
    expect(Object.keys(Array)).toEqual([]);
    expect(Object.getOwnPropertyNames(Object.prototype)).not.toContain('aborted');
  });

  it('that sends unexpected or arbitrary messages is ignored', async () => {
    const { send, works } = await page();
    for (let tag = -1; tag < 40; tag++) {
      if (tag === 9) continue; // BYE ends the connection
      send([tag]);
      send([tag, 1]);
      send([tag, 1, 1, 1, 1]);
      send([tag, -1, [], {}, null]);
    }
    send([FEED, 1, ['x'], true]);
    for (const odd of [
      undefined,
      null,
      5,
      'text',
      {},
      [],
      [undefined],
      [[]],
      [['x']],
      [[Number.NaN]],
    ])
      send(odd);
    expect(await works()).toBe(true);
  });

  it('with the number of a running call gets no second one', async () => {
    const { call, send, answers, works } = await page();
    send([CALL, 900, 0, [['watch', {}, undefined]], [[0, 2, undefined, 'callback', 0]]]);
    send([CALL, 900, 0, [['put', 'a', 1]], []]);
    expect(await works()).toBe(true);
    expect(answers.filter(([, id]) => id === 900)).toEqual([]);
    void call;
  });

  it('cannot start a call without a number, by which it ends', async () => {
    const { call, send, answers, works } = await page();
    const edit = (target: number, ...path: unknown[]) => send([CALL, 0, target, path, []]);
    edit(0, ['transaction']);
    edit(0, ['snapshot']);
    edit(0, ['put', 'a', 1]);
    expect(await works()).toBe(true);
    expect(answers.some(([tag]) => tag === RUN)).toBe(false);
    // The number 0 still means the store.
    expect((await call([['put', 'b', 1]]))[0]).toBe(OK);
    send([CALL, 700, 0, [['transaction']], []]);
    await expect.poll(() => answers.find(([tag]) => tag === RUN)).toEqual([RUN, 700, -1]);
    edit(-1, ['scan'], ['each']);
    send([RAN, 700, true]);
    const end = () => answers.find(([tag, id]) => tag === NO && id === 700);
    await expect.poll(end).toEqual(refusedWith('invalid-argument'));
  });

  it('ends a transaction by stopping its call', async () => {
    const { call, send, answers } = await page();
    send([CALL, 700, 0, [['transaction']], []]);
    await expect.poll(() => answers.some(([tag]) => tag === RUN)).toBe(true);
    expect((await call([['get', 'a']], { target: -1 }))[0]).toBe(OK);
    send([STOP, 700]);
    expect(await call([['get', 'a']], { target: -1 })).toEqual(refusedWith('closed'));
  });

  it('keeps no commit without the option keep', async () => {
    const { call, send, answers } = await page();
    const commit = async (id: number, options: object) => {
      send([CALL, id, 0, [['history'], ['commit', options]], []]);
      const has = (what: number) => answers.some(([tag, at]) => tag === what && at === id);
      await expect.poll(() => has(RUN)).toBe(true);
      send([RAN, id, true]);
      await expect.poll(() => has(OK)).toBe(true);
    };
    await commit(700, {});
    // The number is free again.
    expect((await call([['count']], { id: 700 }))[0]).toBe(OK);
    await commit(701, { keep: true });
    send([STOP, 701]);
    expect((await call([['count']], { id: 701 }))[0]).toBe(OK);
  });

  it('reaches no unlisted member, whatever members the store will have', async () => {
    const db = await open('names', { storage: memory(), tables: { issues } });
    opened.push(() => db.close());
    // Each listed name is a call of the store, so that the list has no dead names.
    const all: [string, object][] = [
      ['store', db],
      ['branches', db.branches],
      ['history', db.history],
      ['health', db.health],
      ['backup', db.backup],
      ['snapshot', db.snapshot()],
      ['table', db.issues],
      ['query', db.issues.all()],
      ['scan', db.scan()],
      ['rows', db.scan().keys()],
      ['sums', db.sumTree('s')],
    ];
    for (const [kind, object] of all) {
      const names = [...CALLS[kind as keyof typeof CALLS]].filter(
        ([, gives]) => gives !== 'each' && gives !== 'live',
      );
      for (const [name] of names) expect(name in object, `${kind}.${name}`).toBe(true);
    }
  });
});

/** Transactions of a store in a worker: their functions run in the page. */
import { afterEach, describe, expect, it } from 'vitest';
import type { RemoteTransaction } from '../../src/worker/index.js';
import { RUN } from '../../src/worker/protocol.js';
import { closeAll } from '../support/doubles/worker-wire.js';
import { ofKind } from '../support/error-kind.js';
import { type Issue, seen } from '../support/worlds/worker-seen.js';
import { until } from '../support/worlds/worker-world.js';

afterEach(closeAll);

describe('a transaction', () => {
  it('runs in the page, and again after a conflict', async () => {
    const { remote, db } = await seen();
    await db.put('n', 1);
    let runs = 0;
    const result = await remote.transaction(async (tx) => {
      runs += 1;
      const n = (await tx.get<number>('n')) as number;
      if (runs === 1) await db.put('n', 10);
      tx.put('n', n + 1);
      return n;
    });
    expect([result, runs, await db.get('n')]).toEqual([10, 2, 11]);
  });

  it('rejects with the exception of its function, or with the refusal of an edit', async () => {
    const { remote } = await seen();
    const thrown = new Error('mine');
    await expect(
      remote.transaction(() => {
        throw thrown;
      }),
    ).rejects.toBe(thrown);
    const refused = remote.transaction((tx) => {
      tx.put('a', 1);
      tx.put('\ud800', 1);
      tx.issues.put({ id: 'b', title: '', status: '' });
    });
    await expect(refused).rejects.toMatchObject({ code: 'invalid-argument', detail: 'key' });
    expect(await remote.count()).toBe(0);
    let late: Pick<RemoteTransaction, 'get' | 'put'> | undefined;
    await remote.transaction((tx) => {
      late = tx;
    });
    await expect(late?.get('a')).rejects.toMatchObject({ code: 'closed' });
    // As in a page: the error of an edit must not be lost.
    expect(() => late?.put('a', 1)).toThrow(expect.objectContaining({ code: 'closed' }));
    expect(await remote.count()).toBe(0);
  });

  it('reads rows at the call, and refuses values that cannot cross', async () => {
    const { remote } = await seen();
    const row = { id: '', title: 'used again', status: 'open' };
    await remote.transaction((tx) => {
      for (const id of ['a', 'b', 'c']) {
        row.id = id;
        tx.issues.put(row);
        tx.put(`plain/${id}`, row);
      }
    });
    const rows = (await remote.issues.toArray()).map(({ id }) => id);
    expect(rows).toEqual(['a', 'b', 'c']);
    expect(await remote.get('plain/b')).toMatchObject({ id: 'b' });
    const root = await remote.root;
    const functions = remote.transaction((tx) => {
      tx.put('before', 1);
      tx.put('odd', { f: () => 1 });
    });
    await expect(functions).rejects.toMatchObject({ code: 'invalid-argument', detail: 'value' });
    await expect(
      remote.transaction((tx) => tx.delete(Symbol('odd') as never)),
    ).rejects.toMatchObject({ code: 'invalid-argument', detail: 'value' });
    expect(await remote.root).toBe(root);
  });

  it('that is aborted ends in the worker, even if its function waits', async () => {
    const { remote, sent } = await seen();
    const ending = new AbortController();
    const call = remote.transaction(() => new Promise(() => {}), { signal: ending.signal });
    const aborted = expect(call).rejects.toMatchObject({ code: 'aborted', cause: 'enough' });
    await until(() => sent.some(([tag]) => tag === RUN));
    ending.abort('enough');
    await aborted;
    await remote.put('a', 1);
    expect(await remote.get('a')).toBe(1);
  });

  it('changes rows by functions, and can be taken back', async () => {
    const { remote } = await seen();
    await remote.issues.put({ id: 'a', title: 'A', status: 'open' });
    const update = (one: Issue) => ({ id: one.id, title: `${one.title}!`, status: 'done' });
    expect(await remote.issues.update('a', update)).toEqual({
      id: 'a',
      title: 'A!',
      status: 'done',
    });
    expect(await remote.issues.update('none', update)).toBeUndefined();
    await expect(remote.issues.update('a', (one) => ({ ...one, id: 'b' }))).rejects.toMatchObject({
      ...ofKind('invalid-argument/value'),
    });
    const made = await remote.history.commit(
      async (tx) => {
        await tx.issues.update('a', (one) => ({ ...one, title: 'in it' }));
        return (await tx.issues.get('a'))?.title;
      },
      { keep: true },
    );
    expect(made.value).toBe('in it');
    await remote.history.revert(made.before, made.after);
    made.close();
    expect((await remote.issues.get('a'))?.title).toBe('A!');
  });
});

import { expect, test } from 'vitest';
import { memory, open } from '../../hedgerow/src/index.js';
import { ofKind } from '../../hedgerow/test/support/error-kind.js';
import { checkedPrefix, openedOnce } from '../src/check-adapter-arguments.js';
import { HedgerowKeyv } from '../src/keyv.js';
import { hedgerowDriver } from '../src/unstorage.js';

test('a store, a branch, a promise and a function each give the handle', async () => {
  const db = await open('handle', { storage: memory() });
  const draft = await db.branches.open('draft');
  for (const source of [db, Promise.resolve(db), () => db, async () => db]) {
    expect(await openedOnce('call', source)()).toBe(db);
  }
  expect(await openedOnce('call', draft)()).toBe(draft);
});

test('the first use calls a function, once', async () => {
  const db = await open('once', { storage: memory() });
  let calls = 0;
  const opened = openedOnce('call', async () => {
    calls += 1;
    return db;
  });
  expect(calls).toBe(0);
  expect(await Promise.all([opened(), opened()])).toEqual([db, db]);
  await opened();
  expect(calls).toBe(1);
});

test('a function that failed is called again, and a rejected promise stays rejected', async () => {
  const db = await open('again', { storage: memory() });
  const failures = [new Error('first'), new Error('second')];
  const opened = openedOnce('call', async () => {
    const failure = failures.shift();
    if (failure) throw failure;
    return db;
  });
  await expect(opened()).rejects.toThrow('first');
  await expect(opened()).rejects.toThrow('second');
  expect(await opened()).toBe(db);
  const never = openedOnce('call', Promise.reject(new Error('never')));
  await expect(never()).rejects.toThrow('never');
  await expect(never()).rejects.toThrow('never');
});

test('a value that is no handle is refused, at once where its type shows it', async () => {
  const refusal = expect.objectContaining({
    ...ofKind('invalid-argument'),
    message: expect.stringContaining('call takes an open store'),
  });
  for (const source of ['app', undefined, null, 7, {}]) {
    expect(() => openedOnce('call', source as never)).toThrow(refusal);
  }
  for (const source of [Promise.resolve('app'), () => undefined, async () => ({})]) {
    await expect(openedOnce('call', source as never)()).rejects.toThrow(refusal);
  }
});

test('invalid options are refused', () => {
  const some = async () => {};
  for (const options of [{ prefx: 'a/' }, null, 'a/']) {
    for (const make of [
      () => hedgerowDriver(some as never, options as never),
      () => new HedgerowKeyv(some as never, options as never),
    ]) {
      expect(make).toThrow(expect.objectContaining(ofKind('invalid-argument')));
    }
  }
});

test('a prefix must be a possible beginning of a key', () => {
  expect(checkedPrefix('call')).toBe('');
  expect(checkedPrefix('call', 'a/')).toBe('a/');
  for (const prefix of [7, null, '\ud800', 'x'.repeat(1025)]) {
    expect(() => checkedPrefix('call', prefix as never)).toThrow(
      expect.objectContaining({
        ...ofKind('invalid-argument/key'),
        message: expect.stringContaining('call: prefix'),
      }),
    );
  }
});

/** An error has a code, a message, and a flag that says whether another try may succeed. */
import { describe, expect, it } from 'vitest';
import { HedgerowError, memory, open } from '../../src/index.js';
import { errorOf, toErrorPayload } from '../../src/worker/error-payload.js';
import { failure, refuses, storeOf } from '../support/models/store-model.js';

const caught = (call: Promise<unknown>): Promise<HedgerowError> =>
  call.then(
    () => expect.fail('nothing was refused'),
    (error: HedgerowError) => error,
  );

describe('the message of an error', () => {
  it('does not repeat the code, which the text of the error has', async () => {
    const db = await storeOf();
    const error = await caught(db.put('\ud800', 1));
    expect([error.code, error.detail]).toEqual(['invalid-argument', 'key']);
    expect(error.message).not.toContain('invalid-argument');
    expect(`${error.code}: ${error.message}`.match(/invalid-argument/g)).toHaveLength(1);
    const page = 'hedgerow/errors/invalid-argument.md#key';
    expect(String(error)).toBe(`HedgerowError [invalid-argument/key]: ${error.message} (${page})`);
  });

  it('of a refused patch contains no code either', async () => {
    const db = await storeOf([['a', 1]]);
    const patch = [{ op: 'put', key: 5, value: 1 }] as never;
    const error = await caught(db.applyPatch(patch));
    expect(error).toEqual(failure('invalid-data/patch', { row: 0 }));
    expect(error.message).not.toMatch(/invalid-/);
    expect(error.message).toContain('operation 0');
  });
});

describe('the address of an error', () => {
  it('names the page of the code, and the section of the detail, in a member of its own, which Node prints', async () => {
    const db = await storeOf();
    const error = await caught(db.put('\ud800', 1));
    expect(error.help).toBe('hedgerow/errors/invalid-argument.md#key');
    expect(error.message).not.toContain('hedgerow/');
    expect({ ...error }).toMatchObject({
      code: 'invalid-argument',
      detail: 'key',
      help: error.help,
    });
  });

  it('appears once, whatever the cause of the error is', () => {
    const inner = new HedgerowError('invalid-argument/value', 'no number', { row: 3 });
    const error = new HedgerowError('invalid-data/row', inner.message, { ...inner, cause: inner });
    expect(error.help).toBe('hedgerow/errors/invalid-data.md#row');
    expect(String(error)).toBe(
      'HedgerowError [invalid-data/row]: no number (hedgerow/errors/invalid-data.md#row)',
    );
    expect(error).toMatchObject({ name: 'HedgerowError', row: 3, cause: inner });
  });

  it('survives the way from a worker', () => {
    const error = errorOf(
      structuredClone(toErrorPayload(new HedgerowError('closed', 'it is closed'))),
    );
    expect(error).toMatchObject({ code: 'closed', help: 'hedgerow/errors/closed.md' });
    expect(error).not.toHaveProperty('detail');
    const gone = new HedgerowError('remote/gone', 'the room was deleted', { status: 410 });
    const crossed = errorOf(structuredClone(toErrorPayload(gone)));
    expect(crossed).toEqual(failure('remote/gone', { status: 410, retryable: false }));
  });

  it('has the name of the platform where it has one', () => {
    const names = (['aborted', 'quota-exceeded', 'closed'] as const).map(
      (code) => new HedgerowError(code, 'for a test').name,
    );
    expect(names).toEqual(['AbortError', 'QuotaExceededError', 'HedgerowError']);
  });
});

describe('an HTTP response that failed', () => {
  it.each([
    [404, false],
    [401, false],
    [408, true],
    [425, true],
    [429, true],
    [500, true],
    [503, true],
  ])('with status %d is remote/response, retryable: %s', async (status, retryable) => {
    const db = await storeOf([['a', 1]]);
    const response = () => new Response('{}', { status });
    const expected = failure('remote/response', { status, retryable });
    await refuses(db, () => db.putMany(response(), { key: '/id' }), expected);
    await refuses(db, () => db.applyPatch(response()), expected);
    const { importStore } = await import('../../src/index.js');
    const storage = memory();
    const importing = importStore('copy', response(), { storage });
    await expect(importing).rejects.toEqual(expected);
    await expect(open('copy', { storage, advanced: { mustExist: true } })).rejects.toEqual(
      failure('not-found/store'),
    );
  });
});

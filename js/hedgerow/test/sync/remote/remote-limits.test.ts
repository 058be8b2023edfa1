/** HTTP answers that ask for a delay, are too slow, or do not come from a store; and messages about clocks. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { hashedName, httpRemote, type Remote } from '../../../src/sync/remote/index.js';
import { always, answering } from '../../support/doubles/answering-server.js';
import { kindOf } from '../../support/error-kind.js';

const bytes = (text: string) => new TextEncoder().encode(text);
const OBJECT = bytes('0123456789abcdef');
const NAME = hashedName('p', OBJECT);

afterEach(() => {
  vi.useRealTimers();
});

const DATE = 'Sun, 29 Nov 2026 12:00:00 GMT';

it.each([
  ['5', 5000],
  ['0', 0],
  ['Sun, 29 Nov 2026 12:00:07 GMT', 7000],
  ['Sun, 29 Nov 2026 11:00:00 GMT', 0],
  ['99999999999999999999', 600_000],
  ['Mon, 29 Nov 2027 12:00:07 GMT', 600_000],
  ['soon', undefined],
  ['-5', undefined],
  ['', undefined],
])('Retry-After: %s is %s ms', async (told, retryAfterMs) => {
  const { remote } = await always(429, { 'Retry-After': told, Date: DATE });
  await expect(remote.readHead('main')).rejects.toMatchObject({ status: 429, retryAfterMs });
});

describe('a page, or another body, that answers with status 200 and an ETag', () => {
  const LOGIN = { 'Content-Type': 'text/html', ETag: '"65a1-2f"' };
  /** Answers all requests except reads itself; `stands` is the body of the head. */
  const portal = (stands: string, headers: Record<string, string>, body: string) =>
    answering((request, response) =>
      request.method === 'GET'
        ? response.writeHead(200, { ETag: '"2"' }).end(stands)
        : response.writeHead(200, headers).end(body),
    );

  it.each([
    ['a page', LOGIN, '<html>'],
    ['a page without a body', LOGIN, ''],
    ['a body', { ETag: '"9"' }, '{"ok":true}'],
    ['an error in XML', { ETag: '"9"', 'Content-Type': 'application/xml' }, '<Error/>'],
  ])('is no success of a swap: %s', async (_, headers, body) => {
    const { remote } = await portal('theirs', headers, body);
    expect(await remote.swapHead('main', '"1"', bytes('mine'))).toMatchObject({
      state: 'unknown',
      cause: { code: 'remote', detail: 'status' },
    });
    // The token comes from the head, not from the answer.
    const own = await portal('mine', headers, body);
    expect(await own.remote.swapHead('main', '"1"', bytes('mine'))).toEqual({
      state: 'swapped',
      token: '"2"',
    });
  });

  it('is no success of a put or a removal', async () => {
    const { remote } = await portal('', LOGIN, '<html>');
    const message = expect.stringContaining('page of HTML');
    for (const call of [() => remote.put(NAME, OBJECT), () => remote.remove([NAME])]) {
      await expect(call()).rejects.toMatchObject({ code: 'remote', detail: 'status', message });
    }
  });
});

describe('a wrong clock', () => {
  const at = (minutes: number) => new Date(Date.now() + minutes * 60_000);
  it.each([
    [31, 'behind'],
    [-20, 'ahead of'],
  ])('by %i minutes is reported, by the header or the body of a refusal', async (minutes, way) => {
    const message = expect.stringMatching(
      new RegExp(`clock of this device is ${Math.abs(minutes)} minutes ${way}`),
    );
    const byHeader = await always(403, { Date: at(minutes).toUTCString() });
    await expect(byHeader.remote.readHead('main')).rejects.toMatchObject({
      ...{ code: 'unauthorized', message },
    });
    const body = `<Error><Code>RequestTimeTooSkewed</Code><ServerTime>${at(minutes).toISOString()}</ServerTime></Error>`;
    const byBody = await always(403, { Date: new Date().toUTCString() }, body);
    await expect(byBody.remote.put(NAME, OBJECT)).rejects.toMatchObject({
      ...{ code: 'unauthorized', message },
    });
  });

  it('is not reported where the clock is right', async () => {
    const { remote } = await always(403);
    await expect(remote.readHead('main')).rejects.toMatchObject({
      message: expect.not.stringContaining('clock'),
    });
  });
});

describe('a slow answer', () => {
  /** A remote whose bodies have `length` bytes, and bring `step` of them every `everyMs`. */
  function dripping(length: number, step: number, everyMs: number, seen: string[] = []): Remote {
    return httpRemote({
      url: 'http://slow.example',
      fetch: async (url, init) => {
        seen.push(url);
        const range = /^bytes=(\d+)-/.exec(new Headers(init.headers).get('range') ?? '');
        let sent = Number(range?.[1] ?? 0);
        const body = new ReadableStream<Uint8Array>({
          async pull(controller) {
            if (sent >= length) return controller.close();
            await new Promise((resolve) => setTimeout(resolve, everyMs));
            const part = new Uint8Array(Math.min(step, length - sent));
            sent += part.length;
            controller.enqueue(part);
          },
        });
        return new Response(body, { status: range ? 206 : 200, headers: { ETag: '"1"' } });
      },
    });
  }
  const fake = () => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });

  /** Returns the outcome of a call, and its seconds; it must end within ten minutes. */
  async function endOf(call: Promise<unknown>) {
    let end: unknown;
    call.then(
      (value) => {
        end = { value };
      },
      (cause) => {
        end = { code: kindOf(cause) };
      },
    );
    for (let seconds = 0; seconds < 600; seconds++) {
      if (end !== undefined) return { ...(end as object), seconds };
      await vi.advanceTimersByTimeAsync(1000);
    }
    return { seconds: 600 };
  }

  it.each([
    ['readHead', (remote: Remote) => remote.readHead('main')],
    ['readHeadSince', (remote: Remote) => remote.readHeadSince('main', '"0"')],
  ])('of a head ends after 30 s in all: %s', async (_, call) => {
    fake();
    const end = await endOf(call(dripping(500, 1, 500)));
    expect(end).toMatchObject({ code: 'offline' });
    expect(end.seconds).toBeGreaterThanOrEqual(29);
    expect(end.seconds).toBeLessThanOrEqual(33);
  });

  it('of a head that comes within that is read', async () => {
    fake();
    expect(await endOf(dripping(500, 100, 5000).readHead('main'))).toMatchObject({
      value: { token: '"1"' },
    });
  });

  it('of an object ends below 1 KiB a second, and is not requested again', async () => {
    fake();
    const seen: string[] = [];
    const end = await endOf(dripping(4 << 20, 900, 1000, seen).get(NAME));
    expect(end).toMatchObject({ code: 'offline' });
    expect(end.seconds).toBeGreaterThanOrEqual(59);
    expect(end.seconds).toBeLessThanOrEqual(63);
    expect(seen).toHaveLength(1);
  });

  it('of an object goes on above that', async () => {
    fake();
    const end = await endOf(dripping(300_000, 1200, 1000).get(NAME));
    expect(end.seconds).toBeGreaterThan(240);
    expect(end).toMatchObject({ value: new Uint8Array(300_000) });
  });
});

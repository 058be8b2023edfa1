/** Signatures of AWS: against their published example, and against another implementation. */
import aws4 from 'aws4';
import { describe, expect, it, vi } from 'vitest';
import { parseHttpUrl, presign, withQuery } from '../../../src/sync/remote/adapters/presign.js';
import { s3Remote, s3Signer } from '../../../src/sync/remote/adapters/s3.js';
import { ofKind } from '../../support/error-kind.js';

const EXAMPLE = {
  credentials: {
    accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
    secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
  },
  region: 'us-east-1',
  atMs: Date.UTC(2013, 4, 24),
  expiresS: 86_400,
};

describe('presign()', () => {
  it('returns the signature of the example of Amazon', async () => {
    // https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-query-string-auth.html
    const place = { scheme: 'https', host: 'examplebucket.s3.amazonaws.com', path: '/test.txt' };
    expect(await presign({ ...EXAMPLE, method: 'GET', place, query: {} })).toBe(
      'https://examplebucket.s3.amazonaws.com/test.txt?X-Amz-Algorithm=AWS4-HMAC-SHA256' +
        '&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_request' +
        '&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host' +
        '&X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404',
    );
  });

  it('returns the signatures of aws4, for many requests', async () => {
    const keys = ['p/ab', 'h/%41b', 'a b+c', "é/🌿/'()*!~", 'x=y&z', ''];
    const queries = [{}, { 'list-type': '2', prefix: 'a b/é+' }, { 'x-id': '0.5', Z: '', a: '!*' }];
    let count = 0;
    for (const method of ['GET', 'PUT', 'DELETE'] as const) {
      for (const [at, key] of keys.entries()) {
        for (const query of queries) {
          for (const sessionToken of [undefined, 'a/token+=']) {
            const [region, atMs] = [`r-${at}`, Date.UTC(2026, at, 3 + at, 4, 5, 6)];
            const credentials = {
              ...EXAMPLE.credentials,
              ...(sessionToken !== undefined && { sessionToken }),
            };
            const path = `/${key.split('/').map(escapedAgain).join('/')}`;
            const place = { scheme: 'https', host: `b.s3.${region}.example:8443`, path };
            const url = await presign({
              method,
              place,
              query,
              region,
              credentials,
              atMs,
              expiresS: 900,
            });
            const day = new Date(atMs).toISOString().replace(/[-:]|\.\d+/g, '');
            const plain = withQuery(place, { ...query, 'X-Amz-Expires': '900', 'X-Amz-Date': day });
            const other = aws4.sign(
              {
                ...{ method, host: place.host, service: 's3', region, signQuery: true },
                path: plain.slice(`https://${place.host}`.length),
              },
              credentials,
            );
            expect(signatureOf(url)).toBe(signatureOf(String(other.path)));
            count++;
          }
        }
      }
    }
    expect(count).toBe(108);
  });

  it('agrees with s3Signer, for keys of any characters, with the bucket in the host or in the path', async () => {
    vi.useFakeTimers({ now: Date.UTC(2026, 0, 2, 3, 4, 59) });
    const { credentials } = EXAMPLE;
    const key = 'a b/%41/é';
    const escapedKey = 'a%20b/%2541/%C3%A9';
    for (const [pathStyle, root] of [
      [true, 'https://s3.example/r'],
      [false, 'https://r.s3.example'],
    ] as const) {
      const options = { endpoint: 'https://s3.example/', bucket: 'r', region: 'auto', pathStyle };
      const sign = s3Signer({ ...options, credentials });
      const place = parseHttpUrl(`${root}/${escapedKey}`);
      const own = { method: 'GET', place: place as never, query: { 'x-id': '1' }, region: 'auto' };
      // The signature stays the same for five minutes.
      const atMs = Date.UTC(2026, 0, 2, 3, 0);
      const url = await sign({ method: 'GET', key, query: { 'x-id': '1' } });
      expect(url).toBe(await presign({ ...own, credentials, atMs, expiresS: 900 }));
    }
    const invalid = expect.objectContaining(ofKind('invalid-argument'));
    expect(() => s3Signer({ bucket: 'r', credentials })).toThrow(invalid);
    expect(() => s3Signer({ prefix: 'x' } as never)).toThrow(invalid);
    vi.useRealTimers();
  });

  it('reports that WebCrypto is missing', async () => {
    vi.stubGlobal('crypto', {});
    const place = { scheme: 'http', host: 'a', path: '/' };
    const call = presign({ ...EXAMPLE, method: 'GET', place, query: {} });
    await expect(call).rejects.toMatchObject({ code: 'unsupported' });
    vi.unstubAllGlobals();
  });
});

/** Written apart from the code under test. */
function escapedAgain(text: string): string {
  return [...new TextEncoder().encode(text)]
    .map((byte) => {
      const one = String.fromCharCode(byte);
      return /[A-Za-z0-9_.~-]/.test(one)
        ? one
        : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
    })
    .join('');
}

function signatureOf(url: string): string | undefined {
  return /X-Amz-Signature=([0-9a-f]{64})/.exec(url)?.[1];
}

describe('placeOf()', () => {
  it('leaves out the default port', () => {
    expect(parseHttpUrl('https://a:443/b')?.host).toBe('a');
    expect(parseHttpUrl('http://a:80')).toEqual({ scheme: 'http', host: 'a', path: '/' });
    expect(parseHttpUrl('https://a:80')?.host).toBe('a:80');
    expect(parseHttpUrl('https://[::1]:9000/x')?.host).toBe('[::1]:9000');
  });
});

describe('s3Remote()', () => {
  const credentials = EXAMPLE.credentials;
  const asked: string[] = [];
  const fetch = async (url: string) => {
    asked.push(url);
    return new Response(null, { status: 404 });
  };

  it('puts the bucket into the host, or into the path', async () => {
    asked.length = 0;
    const endpoint = 'https://s3.example.com';
    const given = { endpoint, bucket: 'b', credentials, prefix: 'notes/', fetch };
    await s3Remote(given).readHead('Main');
    await s3Remote({ ...given, pathStyle: true }).readHead('Main');
    const places = asked.map((url) => url.split('?')[0]);
    expect(places).toEqual([
      'https://b.s3.example.com/notes/h/%254dain',
      'https://s3.example.com/b/notes/h/%254dain',
    ]);
  });

  it('asks for a head at one address for minutes, so that a cache can answer', async () => {
    vi.useFakeTimers({ now: Date.UTC(2026, 0, 1), toFake: ['Date'] });
    asked.length = 0;
    const remote = s3Remote({ endpoint: 'https://a.example', bucket: 'b', credentials, fetch });
    for (const ms of [0, 299_000, 2000]) {
      vi.advanceTimersByTime(ms);
      await remote.readHead('main');
    }
    vi.useRealTimers();
    expect(asked[0]).toBe(asked[1]);
    expect(asked[1]).not.toBe(asked[2]);
  });

  it('asks for credentials before each request, and signs with a session token', async () => {
    asked.length = 0;
    let count = 0;
    const remote = s3Remote({
      ...{ endpoint: 'https://a.example', bucket: 'b', fetch },
      credentials: async () => ({ ...credentials, sessionToken: `t${++count}` }),
    });
    await remote.readHead('main');
    await remote.readHead('main');
    expect(asked.map((url) => /X-Amz-Security-Token=(\w+)/.exec(url)?.[1])).toEqual(['t1', 't2']);
  });

  it('lets the app sign, and reuses the address of a head for half of its time', async () => {
    vi.useFakeTimers({ now: 0, toFake: ['Date'] });
    asked.length = 0;
    const requests: unknown[] = [];
    const remote = s3Remote({
      prefix: 'a/',
      fetch,
      sign: (request) => {
        requests.push(request);
        return `https://signed.example/${requests.length}?X-Amz-Expires=60`;
      },
    });
    await remote.readHead('main');
    await remote.readHead('main');
    vi.advanceTimersByTime(31_000);
    await remote.readHead('main');
    await remote.get(`p/${'0'.repeat(64)}`);
    await remote.remove(['h/main']);
    vi.useRealTimers();
    expect(asked.map((url) => url.split('?')[0]?.slice(-1))).toEqual(['1', '1', '2', '3', '4']);
    expect(requests[0]).toEqual({ method: 'GET', key: 'a/h/main', query: {}, headers: {} });
    expect(requests[3]).toMatchObject({ method: 'DELETE', key: 'a/h/main' });
  });

  it('refuses options that do not fit', () => {
    const endpoint = 'https://a.example';
    const wrong = [
      {},
      { endpoint, bucket: 'b' },
      { endpoint, credentials },
      { endpoint: 'a.example', bucket: 'b', credentials },
      { endpoint, bucket: 'b', credentials, key: 1 },
    ];
    for (const options of wrong) {
      expect(() => s3Remote(options)).toThrow(expect.objectContaining(ofKind('invalid-argument')));
    }
  });

  it('reads lists of several pages, and leaves out foreign names', async () => {
    const name = (digit: string) => `p/${digit.repeat(64)}`;
    const page = (keys: string[], next = '') =>
      `<ListBucketResult>${keys
        .map(
          (key) =>
            `<Contents><Key>${key}</Key><LastModified>2026-01-02T03:04:05.000Z</LastModified><Size>7</Size></Contents>`,
        )
        .join('')}${next}</ListBucketResult>`;
    const pages = [
      page(
        [`a&amp;b/${name('1')}`, 'a&amp;b/p/other'],
        '<NextContinuationToken>x&#43;&#x3d;</NextContinuationToken>',
      ),
      page([`a&amp;b/${name('2')}`]),
    ];
    asked.length = 0;
    const remote = s3Remote({
      ...{ endpoint: 'https://a.example', bucket: 'b', credentials, prefix: 'a&b/' },
      fetch: async (url) => {
        asked.push(url);
        return new Response(pages[asked.length - 1]);
      },
    });
    const modifiedMs = Date.UTC(2026, 0, 2, 3, 4, 5);
    expect(await remote.list('p/')).toEqual([
      { name: name('1'), length: 7, modifiedMs },
      { name: name('2'), length: 7, modifiedMs },
    ]);
    expect(asked[0]).toContain('prefix=a%26b%2Fp%2F');
    expect(asked[1]).toContain('continuation-token=x%2B%3D');
  });
});

/** `npx @hedgerow/server check`: its findings at servers that grant too little or let no page in. */
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, expect, it, vi } from 'vitest';
import { HedgerowError } from '../../hedgerow/src/index.js';
import { memoryRemote, type Remote } from '../../hedgerow/src/sync/remote/index.js';
import { UsageError } from '../src/command/arguments-and-environment.js';
import { runCheck } from '../src/command/check-remote-access.js';
import { bucketAt } from '../src/command/remote-at-address.js';
import { serveRemote } from '../src/serve-remote.js';

const base = mkdtempSync(join(tmpdir(), 'hedgerow-check-'));
afterAll(() => rmSync(base, { recursive: true, force: true }));

const ends: (() => unknown)[] = [];
afterEach(async () => {
  vi.restoreAllMocks();
  for (const end of ends.splice(0).reverse()) await end();
});

async function served(remote: Remote, options: Parameters<typeof serveRemote>[1] = {}) {
  const server = await serveRemote(remote, options);
  ends.push(() => server.close());
  return server.url;
}

/** The output of the command, and its failure. */
async function checked(...args: string[]) {
  const log = vi.spyOn(console, 'log').mockImplementation(() => {});
  const failed = await runCheck(args).then(
    () => '',
    (cause) => (cause instanceof UsageError ? 'usage' : (cause as Error).message),
  );
  const lines = log.mock.calls.map(([line]) => line as string);
  log.mockRestore();
  return { lines, failed };
}

const ALL = ['read    yes', 'write   yes', 'apart   yes', 'delete  yes', 'list    yes'];
const ORIGIN = 'https://app.example';

it('finds that the reference server and a folder grant all, and leaves no objects behind', async () => {
  const remote = memoryRemote();
  const url = await served(remote, { origin: ORIGIN });
  expect(await checked(url, '--role', 'collector', '--origin', ORIGIN)).toEqual({
    lines: [...ALL, 'page    yes', 'all that a collector needs is granted'],
    failed: '',
  });
  for (const prefix of ['p/', 'd/', 'h/'] as const) expect(await remote.list(prefix)).toEqual([]);
  const folder = join(base, 'folder');
  mkdirSync(folder);
  expect(await checked(folder)).toMatchObject({ lines: expect.arrayContaining(ALL), failed: '' });
});

it('reports refusals, and fails only if the role needs what is refused', async () => {
  const no = async () => {
    throw new HedgerowError('unauthorized', 'not you');
  };
  const page = await served({ ...memoryRemote(), remove: no, list: no });
  const writer = await checked(page);
  expect(writer.lines).toEqual([
    ...ALL.slice(0, 3),
    expect.stringMatching(/^delete {2}no: .*status 403/),
    expect.stringMatching(/^list {4}no: .*status 403/),
    'all that a writer needs is granted',
  ]);
  expect(await checked(page, '--role', 'collector')).toMatchObject({
    failed: 'a collector also needs: delete, list',
  });
  const reader = await served({ ...memoryRemote(), put: no, swapHead: no });
  expect(await checked(reader)).toMatchObject({ failed: 'a writer also needs: write, apart' });
  expect(await checked(reader, '--role', 'reader')).toMatchObject({ failed: '' });
});

it('finds a store that does not keep writers apart', async () => {
  const inner = memoryRemote();
  let nth = 0;
  const url = await served({
    ...inner,
    swapHead: async () => ({ state: 'swapped', token: `"${++nth}"` }),
  });
  const { lines, failed } = await checked(url);
  expect(lines[2]).toMatch(/^apart {3}no: the store grants the creation of a head that exists/);
  expect(failed).toBe('a writer also needs: apart');
});

/**
 * A server over another one with only these CORS rules. As a bucket does, it grants all of a request or no part of it.
 */
async function withRules(rule: {
  origin?: string;
  methods?: string[];
  headers?: string[];
  exposed?: string;
}) {
  const inner = await served(memoryRemote());
  const { origin = ORIGIN, methods = ['GET', 'PUT'], exposed = 'ETag' } = rule;
  const { headers = ['cache-control', 'content-type', 'if-match', 'if-none-match'] } = rule;
  const handle: RequestListener = async (request, response) => {
    const asked = request.headers['access-control-request-headers']?.split(',') ?? [];
    const method = request.headers['access-control-request-method'] ?? request.method ?? '';
    const isGranted =
      request.headers.origin === origin &&
      methods.includes(method) &&
      asked.every((name) => headers.includes(name));
    const granted = {
      'Access-Control-Allow-Origin': origin,
      'Access-Control-Allow-Methods': methods.join(', '),
      'Access-Control-Allow-Headers': asked.join(', '),
      'Access-Control-Expose-Headers': exposed,
    };
    const cors: Record<string, string> = isGranted ? granted : {};
    if (request.method === 'OPTIONS')
      return void response.writeHead(isGranted ? 200 : 403, cors).end();
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part);
    const own = ['if-match', 'if-none-match', 'range', 'content-type'] as const;
    const sent = own.flatMap((name) => {
      const value = request.headers[name];
      return value === undefined ? [] : [[name, value] as [string, string]];
    });
    const body = method === 'PUT' ? Buffer.concat(parts) : undefined;
    const answer = await fetch(new URL(request.url ?? '', inner), {
      method,
      headers: sent,
      body,
    } as RequestInit);
    const etag = answer.headers.get('etag');
    response.writeHead(answer.status, { ...cors, ...(etag !== null && { ETag: etag }) });
    response.end(Buffer.from(await answer.arrayBuffer()));
  };
  const server = createServer((request, response) => void handle(request, response));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  ends.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

it('sends the requests of a page, and reports what CORS lacks', async () => {
  const pageLines = async (rule: Parameters<typeof withRules>[0], ...more: string[]) => {
    const { lines, failed } = await checked(await withRules(rule), '--origin', ORIGIN, ...more);
    const page = lines.filter((line) => line.startsWith('page'));
    expect(failed).toBe(page[0] === 'page    yes' ? '' : `pages of ${ORIGIN} cannot use it`);
    return page;
  };
  const no = (what: string) => `page    no: CORS lacks ${what}`;
  expect(await pageLines({})).toEqual(['page    yes']);
  expect(await pageLines({ origin: 'https://other.example' })).toEqual([
    no(`the origin ${ORIGIN} (AllowedOrigins)`),
  ]);
  expect(await pageLines({ methods: ['GET'] })).toEqual([no('the method PUT (AllowedMethods)')]);
  expect(await pageLines({ methods: ['GET'] }, '--role', 'reader')).toEqual(['page    yes']);
  expect(await pageLines({ headers: ['content-type', 'if-match'] })).toEqual([
    no('the header cache-control (AllowedHeaders)'),
    no('the header if-none-match (AllowedHeaders)'),
  ]);
  expect(await pageLines({ exposed: 'Content-Range' })).toEqual([
    no('the answer ETag (ExposeHeaders)'),
  ]);
  expect(await pageLines({}, '--role', 'collector')).toEqual([
    no('the method DELETE (AllowedMethods)'),
  ]);
});

it('fails for a place that does not exist, makes no files, and prints its usage', async () => {
  expect(await checked('http://127.0.0.1:9/')).toMatchObject({
    lines: [],
    failed: expect.stringContaining('cannot be reached'),
  });
  const none = join(base, 'none');
  expect(await checked(none)).toEqual({ lines: [], failed: `there is no folder ${none}` });
  expect(readdirSync(base)).not.toContain('none');
  const wrong = [
    [],
    [base, '--role', 'owner'],
    [base, '--origin', ORIGIN],
    ['http://127.0.0.1:9/', '--origin', 'app.example'],
  ];
  for (const args of wrong) expect(await checked(...args)).toEqual({ lines: [], failed: 'usage' });
});

it('reads the address of a bucket, and takes its keys from the environment only', async () => {
  expect(bucketAt('s3://rooms')).toEqual({ bucket: 'rooms', prefix: '' });
  expect(bucketAt('s3://rooms/')).toEqual({ bucket: 'rooms', prefix: '' });
  expect(bucketAt('S3://my.rooms/a b/7//')).toEqual({ bucket: 'my.rooms', prefix: 'a b/7/' });
  for (const other of ['s3:/rooms', 's3://', 's3:///a', './s3://rooms', 'https://rooms/a']) {
    expect(bucketAt(other)).toBeUndefined();
  }
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'a');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', '');
  await expect(runCheck(['s3://rooms'])).rejects.toThrow(/no AWS_SECRET_ACCESS_KEY/);
  vi.unstubAllEnvs();
});

/** The program over a bucket in a real S3 store: it publishes, checks, clones and collects. */
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { open } from '../../hedgerow/src/index.js';
import { parseHttpUrl, presign } from '../../hedgerow/src/sync/remote/adapters/presign.js';
import { BUCKET, CREDENTIALS, startGateway } from '../../hedgerow/test/support/gateway.mjs';
import { sqlite } from '../../sqlite/src/index.js';
import { runCheck } from '../src/command/check-remote-access.js';
import { runClone, runPublish } from '../src/command/clone-publish-mend.js';
import { runCollect } from '../src/command/collect-unneeded-objects.js';

const ORIGIN = 'https://app.example';
const base = mkdtempSync(join(tmpdir(), 'hedgerow-cli-s3-'));
let endpoint = '';
let stop = async () => {};
beforeAll(async () => {
  ({ endpoint, stop } = await startGateway());
  vi.stubEnv('AWS_ENDPOINT_URL_S3', endpoint);
  vi.stubEnv('AWS_ACCESS_KEY_ID', CREDENTIALS.accessKeyId);
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', CREDENTIALS.secretAccessKey);
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await stop();
  rmSync(base, { recursive: true, force: true });
});

/** Returns the output of a command; rejects if it fails. */
async function printed(command: (args: readonly string[]) => Promise<void>, ...args: string[]) {
  const log = vi.spyOn(console, 'log').mockImplementation(() => {});
  try {
    await command(args);
    return log.mock.calls.map(([line]) => line as string);
  } finally {
    log.mockRestore();
  }
}

async function store<T>(name: string, work: (db: Awaited<ReturnType<typeof open>>) => Promise<T>) {
  const db = await open('app', { storage: sqlite({ location: join(base, name) }) });
  return work(db).finally(() => db.close());
}

/** Gives the bucket the CORS rules of `examples/bucket`. */
async function allowPages() {
  const file = new URL('../../../examples/bucket/cors.json', import.meta.url);
  const [rule] = JSON.parse(readFileSync(file, 'utf8')).CORSRules;
  const tags = (name: string, values: readonly string[]) =>
    values.map((value) => `<${name}>${value}</${name}>`).join('');
  const inner =
    tags('AllowedOrigin', rule.AllowedOrigins) +
    tags('AllowedMethod', rule.AllowedMethods) +
    tags('AllowedHeader', rule.AllowedHeaders) +
    tags('ExposeHeader', rule.ExposeHeaders);
  const body = `<CORSConfiguration><CORSRule>${inner}</CORSRule></CORSConfiguration>`;
  const place = parseHttpUrl(`${endpoint}/${BUCKET}`);
  if (place === undefined) throw new Error(`no address: ${endpoint}`);
  const signed = { region: 'us-east-1', credentials: CREDENTIALS, atMs: Date.now(), expiresS: 60 };
  const url = await presign({ method: 'PUT', place, query: { cors: '' }, ...signed });
  const headers = { 'Content-MD5': createHash('md5').update(body).digest('base64') };
  expect((await fetch(url, { method: 'PUT', headers, body })).status).toBe(200);
}

it('publishes a store to a bucket, clones it, and collects', async () => {
  const place = `s3://${BUCKET}/notes/of the team`;
  await store('source', (db) => db.put('note', 1));
  expect(await printed(runPublish, join(base, 'source'), place)).toEqual([
    'published as state 2; 1 rows in all',
  ]);
  const cloned = await printed(runClone, place, join(base, 'copy'));
  expect(cloned).toEqual([`1 rows from ${place}; 1 rows in all`]);
  expect(await store('copy', (db) => db.get('note'))).toBe(1);
  expect(await printed(runCollect, `${place}/`)).toEqual([
    expect.stringMatching(/^deleted 0 objects/),
  ]);
  const nothing = `s3://${BUCKET}/other`;
  await expect(printed(runClone, nothing, join(base, 'none'))).rejects.toThrow(
    `there is nothing at ${nothing}`,
  );
});

it('checks what a bucket grants, and reports what pages lack', async () => {
  const place = `s3://${BUCKET}/checked`;
  const granted = ['read', 'write', 'apart', 'delete', 'list'].map((one) => `${one.padEnd(7)} yes`);
  expect(await printed(runCheck, place, '--role', 'collector')).toEqual([
    ...granted,
    'all that a collector needs is granted',
  ]);
  const asPage = () => printed(runCheck, place, '--origin', ORIGIN);
  await expect(asPage()).rejects.toThrow(`pages of ${ORIGIN} cannot use it`);
  await allowPages();
  expect(await asPage()).toEqual([...granted, 'page    yes', 'all that a writer needs is granted']);
  await expect(printed(runCheck, place, '--origin', 'https://other.example')).rejects.toThrow(
    'pages',
  );
});

it('reports missing rights of keys, and a missing bucket', async () => {
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'another');
  const log = vi.spyOn(console, 'log').mockImplementation(() => {});
  await expect(runCheck([`s3://${BUCKET}/x`])).rejects.toThrow('also needs: read, write, apart');
  expect(log.mock.calls.flat().join('\n')).toMatch(/write {3}no: .*403.*it needs s3:PutObject/);
  log.mockRestore();
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', CREDENTIALS.secretAccessKey);
  await expect(runCheck(['s3://nowhere/x'])).rejects.toMatchObject({
    code: 'remote',
    detail: 'gone',
  });
});

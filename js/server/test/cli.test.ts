/** The program: it makes a folder for a static server from a store in SQLite, and a store from the folder. */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, it, vi } from 'vitest';
import { open } from '../../hedgerow/src/index.js';
import { signingKeys } from '../../hedgerow/src/sync/encryption/index.js';
import { isDeep, sampled } from '../../hedgerow/test/support/property.js';
import { sqlite } from '../../sqlite/src/index.js';
import { UsageError } from '../src/command/arguments-and-environment.js';
import { runClone, runMend, runPublish } from '../src/command/clone-publish-mend.js';
import { runCollect } from '../src/command/collect-unneeded-objects.js';

const base = mkdtempSync(join(tmpdir(), 'hedgerow-cli-'));
afterAll(() => rmSync(base, { recursive: true, force: true }));

const PROGRAM = join(import.meta.dirname, '..', 'dist', 'command', 'bin.js');

/** Runs the program; resolves to its exit code and its output. */
async function run(...args: string[]): Promise<{ code: number; text: string }> {
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [PROGRAM, ...args]);
    return { code: 0, text: stdout.trim() };
  } catch (cause) {
    const { code, stderr } = cause as { code: number; stderr: string };
    return { code, text: stderr.trim() };
  }
}

const COMMANDS = {
  publish: runPublish,
  clone: runClone,
  collect: runCollect,
  mend: runMend,
} as const;

/** Runs a command in this process, which costs far less than starting the program; a deep run starts the program. */
async function command(name: keyof typeof COMMANDS, ...args: string[]): ReturnType<typeof run> {
  if (isDeep) return run(name, ...args);
  const log = vi.spyOn(console, 'log').mockImplementation(() => {});
  try {
    await COMMANDS[name](args);
    return { code: 0, text: log.mock.calls.join('\n') };
  } catch (cause) {
    const isUsage = cause instanceof UsageError;
    return { code: isUsage ? 2 : 1, text: isUsage ? cause.message : String(cause) };
  } finally {
    log.mockRestore();
  }
}

async function store<T>(
  folder: string,
  work: (db: Awaited<ReturnType<typeof open>>) => Promise<T>,
) {
  const db = await open('app', { storage: sqlite({ location: folder }) });
  try {
    return await work(db);
  } finally {
    await db.close();
  }
}

it('publishes a store for any static server, clones it, and updates the clone', async () => {
  const [source, site, copy] = ['source', 'site', 'copy'].map((name) => join(base, name)) as [
    string,
    string,
    string,
  ];
  const rows = Array.from({ length: 3000 }, (_, nth): [string, unknown] => [`row/${nth}`, { nth }]);
  await store(source, (db) => db.putMany(rows));
  expect(await run('publish', source, site)).toEqual({
    code: 0,
    text: 'published as state 2; 3,000 rows in all',
  });
  expect((await command('publish', source, site)).text).toContain('nothing has changed');
  // Like a static server, it ignores ranges and conditions.
  const server = createServer((request, response) => {
    try {
      const path = decodeURIComponent(new URL(request.url ?? '', 'http://localhost').pathname);
      const bytes = readFileSync(join(site, path));
      response.writeHead(200, { 'Content-Type': 'application/octet-stream' }).end(bytes);
    } catch {
      response.writeHead(404).end();
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const cloned = await run('clone', url, copy);
    expect(cloned).toEqual({ code: 0, text: `3000 rows from ${url}; 3,000 rows in all` });
    await store(source, (db) => db.put('row/7', 'changed'));
    await command('publish', source, site);
    expect((await command('clone', url, copy)).text).toMatch(/^1 rows from/);
    expect(await store(copy, (db) => db.get('row/7'))).toBe('changed');
  } finally {
    server.close();
  }
});

it('collects a remote, and deletes no young objects', async () => {
  const [source, site] = ['collected', 'collected-site'].map((name) => join(base, name)) as [
    string,
    string,
  ];
  await store(source, (db) => db.put('row', 1));
  await command('publish', source, site);
  mkdirSync(join(site, 'd'), { recursive: true });
  writeFileSync(join(site, 'd', 'x'), 'no object');
  expect(await run('collect', site)).toEqual({
    code: 0,
    text: 'deleted 0 objects (0.0 MB); 0 objects (0.0 MB) wait; 0 objects (0.0 MB) are in use',
  });
  for (const args of [[], [site, '--days', '0'], [site, '--days', 'x'], [site, 'two']]) {
    expect(await command('collect', ...args)).toMatchObject({
      code: 2,
      text: expect.stringContaining('hedgerow collect'),
    });
  }
});

it('publishes and clones an encrypted remote with the key of the environment', async () => {
  const [source, site, copy] = ['secret', 'secret-site', 'secret-copy'].map((name) =>
    join(base, name),
  ) as [string, string, string];
  await store(source, (db) => db.put('secret', 'told to nobody'));
  const [key, other] = ['07'.repeat(32), 'aB'.repeat(32)] as const;
  let room = 'room 7';
  const withKey = async (keys: string, ...args: Parameters<typeof command>) => {
    Object.assign(process.env, { HEDGEROW_KEY: keys, HEDGEROW_PLACE: room });
    try {
      return await command(...args);
    } finally {
      delete process.env.HEDGEROW_KEY;
      delete process.env.HEDGEROW_PLACE;
    }
  };
  expect(await withKey(key, 'publish', source, site)).toMatchObject({ code: 0 });
  expect(await command('clone', site, copy)).toMatchObject({
    code: 1,
    text: expect.stringContaining('is encrypted'),
  });
  expect(await withKey(other, 'clone', site, copy)).toMatchObject({ code: 1 });
  expect(await withKey('07', 'clone', site, copy)).toMatchObject({
    code: 2,
    text: expect.stringContaining('HEDGEROW_KEY is 64'),
  });
  room = 'room 8';
  expect(await withKey(key, 'clone', site, copy)).toMatchObject({ code: 1 });
  room = '';
  expect(await withKey(key, 'clone', site, copy)).toMatchObject({
    code: 2,
    text: expect.stringContaining('HEDGEROW_KEY needs HEDGEROW_PLACE'),
  });
  room = 'room 7';
  expect(await withKey(key, 'clone', site, copy)).toMatchObject({ code: 0 });
  await store(source, (db) => db.put('secret', 'turned'));
  expect(await withKey(`${key},${other}`, 'publish', source, site)).toMatchObject({ code: 0 });
  expect(await withKey(key, 'clone', site, copy)).toMatchObject({ code: 1 });
  expect(await withKey(`${key}, ${other}`, 'clone', site, copy)).toMatchObject({ code: 0 });
  expect(await store(copy, (db) => db.get('secret'))).toBe('turned');
});

it('publishes with signed heads, and clones by the public key', async () => {
  const [source, site, copy] = ['signed', 'signed-site', 'signed-copy'].map((name) =>
    join(base, name),
  ) as [string, string, string];
  await store(source, (db) => db.put('news', 'from us'));
  const secret = new Uint8Array(32).fill(5);
  const { publicKey } = await signingKeys(secret);
  const digits = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');
  const withEnv = async (name: string, value: string, ...args: Parameters<typeof command>) => {
    process.env[name] = value;
    try {
      return await command(...args);
    } finally {
      delete process.env[name];
    }
  };
  const signing = (...args: Parameters<typeof command>) =>
    withEnv('HEDGEROW_SIGN', digits(secret), ...args);
  const signedBy = (key: Uint8Array, ...args: Parameters<typeof command>) =>
    withEnv('HEDGEROW_SIGNED_BY', digits(key), ...args);
  expect(await signing('publish', source, site)).toMatchObject({ code: 0 });
  const other = (await signingKeys(secret.fill(6))).publicKey;
  expect(await signedBy(other, 'clone', site, copy)).toMatchObject({ code: 1 });
  // Without a key the program does not accept its head.
  expect(await command('clone', site, copy)).toMatchObject({ code: 1 });
  expect(await signedBy(publicKey, 'clone', site, copy)).toMatchObject({ code: 0 });
  expect(await store(copy, (db) => db.get('news'))).toBe('from us');
  secret.fill(5);
  expect(await signing('collect', site)).toMatchObject({ code: 0 });
  expect(await withEnv('HEDGEROW_SIGN', '05', 'publish', source, site)).toMatchObject({
    code: 2,
    text: expect.stringContaining('HEDGEROW_SIGN is 64'),
  });
});

it('prints its usage, and exits with 2 after a wrong call and with 1 after a failure', async () => {
  expect(await run('--help')).toMatchObject({ code: 0, text: expect.stringContaining('publish') });
  expect(await run('clone', '--help')).toMatchObject({ code: 0 });
  const wrong = [[], ['copy'], ['clone', 'one'], ['clone', 'a', 'b', '--wrong']];
  for (const args of sampled(wrong, 4)) {
    expect(await run(...args), args.join(' ')).toMatchObject({
      code: 2,
      text: expect.stringContaining('hedgerow clone'),
    });
  }
  expect(await command('collect', 's3://bucket/notes')).toMatchObject({
    code: 2,
    text: expect.stringContaining('AWS_ACCESS_KEY_ID'),
  });
  const failed = await run('clone', 'http://127.0.0.1:9/', join(base, 'none'));
  expect(failed).toMatchObject({ code: 1, text: expect.stringContaining('offline') });
});

it('exits with 1 and a sentence for a place that does not exist, and makes no files', async () => {
  const [source, site] = ['existing', 'existing-site'].map((name) => join(base, name)) as [
    string,
    string,
  ];
  await store(source, (db) => db.put('row', 1));
  await command('publish', source, site);
  const none = join(base, 'nothing');
  const empty = mkdtempSync(join(base, 'empty-'));
  const missing: [args: string[], said: string][] = [
    [['publish', none, join(base, 'new-site')], 'no store app'],
    [['publish', empty, join(base, 'new-site')], 'no store app'],
    [['publish', source, join(base, 'new-site'), '--store', 'ap'], 'no store ap'],
    [['clone', none, join(base, 'new')], `nothing at ${none}`],
    [['clone', empty, join(base, 'new')], `nothing at ${empty}`],
    [['clone', site, join(base, 'new'), '--branch', 'mian'], `no branch mian at ${site}`],
    [['clone', 'ftp://example.org/', join(base, 'new')], 'ftp://'],
    [['publish', source, 'ftp://example.org/'], 'ftp://'],
    [['publish', 'https://example.org/', site], 'https://'],
    [['collect', none], `nothing at ${none}`],
    [['collect', empty], `nothing at ${empty}`],
    [['collect', 'ftp://example.org/'], 'ftp://'],
    [['serve', 's3://bucket/notes'], 's3://'],
  ];
  const before = readdirSync(base).sort();
  const check = async ([args, said]: (typeof missing)[number]) => {
    const { code, text } = await run(...args);
    expect(text, args.join(' ')).toContain(said);
    expect({ code, args }).toEqual({ code: 1, args });
  };
  await Promise.all(missing.map(check));
  expect(readdirSync(base).sort()).toEqual(before);
  // Each read of a folder of SQLite takes its locks.
  expect(readdirSync(empty).filter((name) => name !== 'hedgerow-locks')).toEqual([]);
  expect(await store(source, (db) => db.count())).toBe(1);
});

it('mends a remote that has lost an object, from a store that has its rows', async () => {
  const [source, remote, copy] = ['mend-source', 'mend-remote', 'mend-copy'].map((name) =>
    join(base, name),
  ) as [string, string, string];
  const rows = Array.from({ length: 900 }, (_, nth): [string, unknown] => [
    `row/${nth}`,
    randomBytes(2000).toString('hex'),
  ]);
  await store(source, (db) => db.putMany(rows));
  expect(await command('publish', source, remote)).toMatchObject({ code: 0 });
  const lengthOf = (name: string) => statSync(join(remote, 'p', name)).size;
  // The shortest is for readers of parts; a clone does not need it.
  const [pack = ''] = readdirSync(join(remote, 'p')).sort((a, b) => lengthOf(b) - lengthOf(a));
  rmSync(join(remote, 'p', pack));
  expect(await command('clone', remote, copy)).toMatchObject({ code: 1 });
  const collected = await command('collect', remote);
  expect(collected).toMatchObject({ code: 1 });
  expect(collected.text).toContain(`p/${pack}`);
  expect(await command('mend', source, remote)).toEqual({
    code: 0,
    text: 'mended as state 3; 900 rows in all',
  });
  expect(await command('clone', remote, copy)).toMatchObject({ code: 0 });
  expect(await command('collect', remote)).toMatchObject({ code: 0 });
});

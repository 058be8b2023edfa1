/** A folder keeps its objects through power failures, deletes leftovers, and follows no links. */

import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import fs from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, sep } from 'node:path';
import { afterAll, afterEach, expect, it, vi } from 'vitest';
import { hashedName } from '../../hedgerow/src/sync/remote/index.js';
import { folderRemote } from '../src/folder/folder-remote.js';

const base = mkdtempSync(join(tmpdir(), 'hedgerow-folder-'));
afterAll(() => rmSync(base, { recursive: true, force: true }));
afterEach(() => vi.restoreAllMocks());

const bytes = (text: string) => new TextEncoder().encode(text);
const [pack, delta] = ['p', 'd'].map((letter) => hashedName(letter as 'p', bytes('x'))) as [
  string,
  string,
];

/** A disk that may lose each name since the last sync of its folder, and each file without a sync. */
class Disk {
  /** Names that a power failure may take. */
  readonly unsafe = new Set<string>();
  readonly #synced = new Set<string>();

  constructor() {
    const { open, link, rename, mkdir } = fs;
    vi.spyOn(fs, 'open').mockImplementation(async (path, ...flags) => {
      const file = await open(path, ...flags);
      const sync = file.sync.bind(file);
      file.sync = async () => {
        await sync();
        this.#synced.add(String(path));
        for (const one of this.unsafe) if (dirname(one) === path) this.unsafe.delete(one);
      };
      return file;
    });
    const place = (how: typeof link) => async (from: unknown, to: unknown) => {
      expect(this.#synced, 'a file gets a name when its bytes are safe').toContain(from);
      this.unsafe.add(String(to));
      await how(from as string, to as string);
    };
    vi.spyOn(fs, 'link').mockImplementation(place(link));
    vi.spyOn(fs, 'rename').mockImplementation(place(rename));
    vi.spyOn(fs, 'mkdir').mockImplementation((async (path: string, options: object) => {
      const first = (await mkdir(path, options)) as string | undefined;
      const isTemporary = path.endsWith('.temporary');
      if (first === undefined || isTemporary) return first;
      for (let at = path; at.length >= first.length; at = dirname(at)) this.unsafe.add(at);
      return first;
    }) as never);
  }
}

it.skipIf(sep === '\\')(
  'keeps what it has acknowledged, and the folders of that, through a power failure',
  async () => {
    const disk = new Disk();
    const folder = join(base, 'outer', 'inner');
    const safely = async <T>(call: Promise<T>): Promise<T> => {
      const result = await call;
      expect([...disk.unsafe]).toEqual([]);
      return result;
    };
    const remote = folderRemote(folder);
    await safely(remote.put('hedgerow', bytes('what')));
    await safely(remote.put(pack, bytes('x')));
    await safely(remote.put(delta, bytes('x')));
    for (let round = 0; round < 2; round++) {
      let token: string | undefined;
      for (let step = 0; step < 3; step++) {
        const swap = await safely(remote.swapHead('main', token, bytes(`${round} ${step}`)));
        token = swap.state === 'swapped' ? swap.token : undefined;
        expect(token).toBeDefined();
      }
      // Then its folder is a different one.
      await remote.remove(['h/main']);
    }
  },
);

it.skipIf(sep === '\\')(
  'syncs folders that a killed process may have made and not synced',
  async () => {
    const folder = join(base, 'killed');
    mkdirSync(join(folder, 'p'), { recursive: true });
    mkdirSync(join(folder, '.heads', 'main'), { recursive: true });
    const disk = new Disk();
    for (const name of ['p', '.heads', join('.heads', 'main')]) disk.unsafe.add(join(folder, name));
    const remote = folderRemote(folder);
    await remote.put(pack, bytes('x'));
    await remote.swapHead('main', undefined, bytes('a head'));
    expect([...disk.unsafe]).toEqual([]);
  },
);

it('deletes leftovers of killed writers after a day, and no file that another may be writing', async () => {
  const folder = join(base, 'left');
  const temporary = join(folder, '.temporary');
  mkdirSync(temporary, { recursive: true });
  const [old, fresh] = [join(temporary, 'old'), join(temporary, 'fresh')];
  for (const path of [old, fresh]) writeFileSync(path, 'half');
  const ago = (hours: number) => new Date(Date.now() - hours * 3_600_000);
  utimesSync(old, ago(25), ago(25));
  utimesSync(fresh, ago(23), ago(23));
  const remote = folderRemote(folder);
  await remote.get('hedgerow');
  expect(existsSync(old)).toBe(true);
  await remote.put(pack, bytes('x'));
  expect([existsSync(old), existsSync(fresh)]).toEqual([false, true]);
});

it.skipIf(sep === '\\')('follows no link that leads out of the folder', async () => {
  const folder = join(base, 'links');
  const secret = join(base, 'secret');
  writeFileSync(secret, 'a secret');
  const remote = folderRemote(folder);
  await remote.put(delta, bytes('x'));
  for (const name of ['p', join('.heads', 'evil')])
    mkdirSync(join(folder, name), { recursive: true });
  symlinkSync(secret, join(folder, pack));
  symlinkSync(secret, join(folder, '.heads', 'evil', '1'));
  await expect(remote.get(pack)).rejects.toMatchObject({ code: 'remote', detail: 'status' });
  await expect(remote.readHead('evil')).rejects.toMatchObject({ code: 'remote', detail: 'status' });
  expect(await remote.list('p/')).toEqual([]);
  expect((await remote.list('d/')).map(({ name }) => name)).toEqual([delta]);
  // A put replaces the link.
  await remote.put(pack, bytes('x'));
  expect(await remote.get(pack)).toEqual(bytes('x'));
});

/**
 * The page of `tests/import.spec.ts`: an old app that writes with Dexie or localForage, and a new one that imports it.
 */

import {
  fromDexie,
  fromLocalForage,
  type ImportFromOptions,
  type ImportFromProgress,
  type ImportFromResult,
  importFrom,
} from '@hedgerow/import';
import { Dexie } from 'dexie';
import { open, rowType, type Store, type StoredFile, table } from 'hedgerow';
import localforage from 'localforage';

interface Issue {
  id: string;
  title: string;
  status: string;
  modified: number;
  body: string;
}

const issues = table({
  schema: rowType<Issue>(),
  key: 'id',
  indexes: { byState: ['status', 'modified'] },
});

interface Photo {
  id: string;
  taken: Date;
  photo: StoredFile;
}

const photos = table({ schema: rowType<Photo>(), key: 'id', values: 'structured' });

/** About 150 bytes as JSON. */
const issueOf = (at: number): Issue => ({
  id: `i${String(at).padStart(6, '0')}`,
  title: `Mend the gate number ${at} of the village`,
  status: at % 3 === 0 ? 'open' : 'closed',
  modified: 1_754_000_000 + ((at * 7919) % 100_000),
  body: 'x'.repeat(40),
});

function oldDexie(name: string): Dexie {
  const old = new Dexie(name);
  old.version(2).stores({ issues: 'id, status', photos: 'id' });
  return old;
}

/** Measures the longest time between two frames in each phase of an import, in milliseconds, until `stop` is called. */
function watchGaps(): { stop(): Record<string, number> } {
  const longest: Record<string, number> = {};
  let last = performance.now();
  let isOver = false;
  const tick = () => {
    const now = performance.now();
    const phase = window.progress.at(-1)?.phase ?? 'reading';
    longest[phase] = Math.max(longest[phase] ?? 0, Math.round(now - last));
    last = now;
    if (!isOver) requestAnimationFrame(tick);
  };
  requestAnimationFrame(tick);
  return {
    stop() {
      isOver = true;
      return longest;
    },
  };
}

const source = (name: string) => fromDexie<Issue>({ database: name, table: 'issues' });

const app = {
  /** Writes an old database. */
  async write(name: string, count: number): Promise<void> {
    const old = oldDexie(name);
    for (let at = 0; at < count; at += 10_000) {
      const length = Math.min(10_000, count - at);
      await old.table('issues').bulkPut(Array.from({ length }, (_, n) => issueOf(at + n)));
    }
    old.close();
  },

  async openOld(name: string) {
    const old = oldDexie(name);
    await old.open();
    return old;
  },

  open: () => open('new-app', { tables: { issues, photos } }),

  /** Begins an import, and reports it in `window`. */
  begin(name: string, options: ImportFromOptions<Issue, IDBValidKey, Issue, Issue> = {}): void {
    window.progress = [];
    window.outcome = undefined;
    const run = async () => {
      const db = await app.open();
      const gaps = watchGaps();
      const startMs = performance.now();
      const onProgress = (progress: ImportFromProgress) => void window.progress.push(progress);
      const result = await importFrom(source(name), db.issues, { onProgress, ...options });
      const ms = performance.now() - startMs;
      const longest = gaps.stop();
      await db.close();
      return { result, ms, gaps: longest };
    };
    run().then(
      (outcome) => {
        window.outcome = outcome;
      },
      (error) => {
        window.outcome = { error: String(error) };
      },
    );
  },

  /** Compares the new rows with the old database as Dexie reads it; returns the differences. */
  async compare(name: string) {
    const db = await app.open();
    const old = oldDexie(name);
    const [rows, before] = [await db.issues.toArray(), await old.table('issues').toArray()];
    const wrong = rows.filter((row, at) => JSON.stringify(row) !== JSON.stringify(before[at]));
    const open = await db.issues.where({ status: 'open' }).count();
    const kept = before.filter(({ status }) => status === 'open').length;
    const found = { rows: rows.length, before: before.length, wrong: wrong.length, open, kept };
    old.close();
    await db.close();
    return found;
  },

  /** Imports values of all kinds that both libraries keep. */
  async values(name: string): Promise<unknown> {
    const forage = localforage.createInstance({ name: `${name}-forage` });
    await forage.setItem('settings', { theme: 'dark', nothing: null });
    await forage.setItem('blob', new Blob(['a blob'], { type: 'text/plain' }));
    await forage.setItem('bytes', new Uint8Array([1, 2, 255]));
    const old = oldDexie(name);
    const photo = new File(['a gate'], 'gate.txt', { type: 'text/plain' });
    await old.table('photos').put({ id: 'gate', taken: new Date(5), photo });
    old.close();
    const db = await app.open();
    const fromForage = await importFrom(
      fromLocalForage<unknown>({ name: `${name}-forage` }),
      { db: db as unknown as Store, prefix: 'settings/' },
      {
        map: async (value) =>
          value instanceof Blob ? new Uint8Array(await value.arrayBuffer()) : value,
      },
    );
    const fromPhotos = await importFrom(
      fromDexie<Photo>({ database: name, table: 'photos' }),
      db.photos,
    );
    const row = await db.photos.get('gate');
    const text = (bytes: unknown) => new TextDecoder().decode(bytes as Uint8Array);
    const found = {
      forage: [fromForage.rows, fromForage.verified],
      settings: await db.get('settings/settings'),
      blob: text(await db.get('settings/blob')),
      bytes: [...((await db.get('settings/bytes')) as Uint8Array)],
      photos: [fromPhotos.rows, fromPhotos.verified],
      photo: [row?.taken.getTime(), row?.photo.name, row?.photo.type, text(row?.photo.bytes)],
    };
    await db.close();
    return found;
  },

  async databases(): Promise<(string | undefined)[]> {
    return (await indexedDB.databases()).map(({ name }) => name);
  },

  /** Imports a database that does not exist. */
  async absent(name: string): Promise<string> {
    const db = await app.open();
    const { status } = await importFrom(source(name), db.issues);
    await db.close();
    return status;
  },
};

declare global {
  interface Window {
    importing: typeof app;
    progress: ImportFromProgress[];
    outcome:
      | {
          readonly result: ImportFromResult;
          readonly ms: number;
          readonly gaps: Record<string, number>;
        }
      | { readonly error: string }
      | undefined;
    oldDexie: Dexie;
  }
}

window.importing = app;

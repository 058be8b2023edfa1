/** The page of `tests/tables.spec.ts`: an app of version 1 or 2, whose issues have an assignee or an owner. */
import {
  file,
  type LiveState,
  live,
  type MigrationProgress,
  type OpenOptions,
  open,
  rowType,
  type Store,
  type StoredFile,
  table,
} from 'hedgerow';

interface Common {
  id: string;
  title: string;
  modified: Date;
  tags: Set<string>;
  photo?: StoredFile;
}
interface First extends Common {
  assignee: string;
}
interface Second extends Common {
  owner: string;
}

const first = table({
  schema: rowType<First>(),
  key: 'id',
  values: 'structured',
  indexes: { byAssignee: ['assignee', 'modified'] },
});

const second = table({
  schema: rowType<Second>(),
  key: 'id',
  values: 'structured',
  indexes: { byOwner: ['owner', 'modified'], byWord: [{ words: 'title' }] },
  version: 2,
  migrate: ({ assignee, ...row }: First): Second => ({ ...row, owner: assignee }),
});

const timeOf = (at: number) => new Date(Date.UTC(2026, 0, 1) + at * 60_000);

function* commonRows(count: number): Generator<Common> {
  for (let at = 0; at < count; at++) {
    const id = `i${String(at).padStart(6, '0')}`;
    yield {
      id,
      title: `Mend gate ${at}`,
      modified: timeOf(at),
      tags: new Set(['a', `t${at % 3}`]),
    };
  }
}

/** The calls of a test in the page. Rows leave it as text: dates and sets do not cross. */
const app = {
  /** Opens the app of version 1. */
  async old(name: string) {
    const outdated: number[] = [];
    const options = { onOutdated: ({ version }: { version: number }) => outdated.push(version) };
    const db = await open(name, { tables: { issues: first }, ...options });
    return {
      db,
      outdated,
      load: (count: number) => {
        const rows = [...commonRows(count)].map((row, at) => ({ ...row, assignee: `u${at % 10}` }));
        return db.issues.putMany(rows);
      },
      put: (at: number) => {
        const [row] = [...commonRows(at + 1)].slice(-1) as [Common];
        return db.issues.put({ ...row, title: 'Written by the old app', assignee: 'old' });
      },
    };
  },

  /** Opens the app of version 2. */
  async fresh(name: string) {
    const told: MigrationProgress[] = [];
    const options = { onMigration: (progress: MigrationProgress) => void told.push(progress) };
    const db = await open(name, { tables: { issues: second }, ...options });
    return {
      db,
      told,
      /** Whether a row is right, in whatever version it is stored. */
      async isRight(at: number): Promise<boolean> {
        const row = await db.issues.get(`i${String(at).padStart(6, '0')}`);
        const time = row?.modified.getTime();
        return time === timeOf(at).getTime() && row?.tags.has(`t${at % 3}`) === true && !!row.owner;
      },
      async mine(owner: string) {
        const rows = await db.issues.where({ owner }).orderBy('modified', 'desc').toArray();
        return rows.map(({ id }) => id);
      },
      async words(words: string) {
        return db.issues.where({ title: { words } }).count();
      },
      newest(limit: number) {
        const shown = live(
          db.issues.where({ owner: 'u1' }).orderBy('modified', 'desc').limit(limit),
        );
        const states: LiveState<Second>[] = [];
        shown.subscribe(() => void states.push(shown.get()));
        return { shown, states };
      },
    };
  },

  async photo(name: string): Promise<string> {
    const db = await open(name, { tables: { issues: second } });
    const blob = new File(['a gate'], 'gate.txt', { type: 'text/plain' });
    const [row] = [...commonRows(1)] as [Common];
    await db.issues.put({ ...row, id: 'photo', owner: 'u1', photo: await file(blob) });
    const photo = (await db.issues.get('photo'))?.photo;
    const text = await photo?.blob().text();
    await db.close();
    return `${photo?.name} ${photo?.type} ${text}`;
  },
};

export type App = typeof app;
export type { OpenOptions, Store };

declare global {
  interface Window {
    app: App;
    oldApp: Awaited<ReturnType<App['old']>>;
    newApp: Awaited<ReturnType<App['fresh']>>;
    list: ReturnType<Awaited<ReturnType<App['fresh']>>['newest']>;
    /** A row that a test has seen. */
    firstRow: unknown;
  }
}

window.app = app;

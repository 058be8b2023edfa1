/** Tables with versions of rows, and a server with the old form: each row is migrated once. */
import { describe, expect, it } from 'vitest';
import { type HedgerowError, memory, open } from '../../../src/index.js';
import { mutators } from '../../../src/sync/mutators/index.js';
import { json, ServerDouble } from '../../support/doubles/mutators-server.js';
import { ofKind } from '../../support/error-kind.js';
import {
  closing,
  migrated,
  type TaskV1,
  task,
  tasks,
  tasksV2,
} from '../../support/migration-tables.js';
import { rejectedBy } from '../../support/worlds/mutators-app.js';

const ROWS = 60;

/** A server of version 1, whose rows are renamed by the calls of an app of version 2. */
function oldServer(rows: readonly TaskV1[]) {
  const server = new ServerDouble({
    rename(all, { id, name }: { id: string; name: string }) {
      all.set(`tasks/${id}`, { ...(all.get(`tasks/${id}`) as TaskV1), name });
    },
  });
  server.set(rows.map((row) => [`tasks/${row.id}`, row]));
  return server;
}

async function device(server: ServerDouble) {
  const db = closing(await open('app', { storage: memory(), tables: { tasks: tasksV2 } }));
  const app = await db.connect(
    mutators({
      mutators: {
        async rename(tx, { id, name }: { id: string; name: string }) {
          await tx.tasks.update(id, { name });
        },
      },
      pull: (request) => json(server.pull(request)),
      push: (request) => json(server.push(request)),
    }),
  );
  return { db, app, rejected: rejectedBy(app) };
}

describe('rows of a server of version 1, in a table of version 2', () => {
  it('are migrated once, however often the server has news', async () => {
    const server = oldServer(tasks(ROWS));
    const { db, app, rejected } = await device(server);
    await app.pull();
    await migrated(db);
    const { rows: first } = await db.tasks.migration();
    const forms = new Set<string>();
    db.watch({ prefix: 'tasks/' }, (changes) => {
      for (const change of changes) {
        if (change.op !== 'delete')
          forms.add(`${change.key} ${'status' in (change.newValue as object)}`);
      }
    });
    for (const n of [1, 2, 3]) {
      await app.mutate.rename({ id: task(n).id, name: `renamed ${n}` });
      await app.push();
      expect(await app.pull()).toMatchObject({ hasNews: true, acknowledged: 1 });
      // At once: no row waits for its turn.
      expect(await db.tasks.migration()).toMatchObject({ rows: first, remaining: 0 });
      expect(await db.tasks.where({ state: 'open' }).count({ wait: false })).toBe(ROWS / 3);
      expect(await db.tasks.get(task(n).id)).toMatchObject({ name: `renamed ${n}` });
    }
    expect([...forms]).toEqual([1, 2, 3].map((n) => `tasks/${task(n).id} false`));
    expect(rejected).toEqual([]);
  });

  it('arrive in their newest form after puts and deletes of the server', async () => {
    const server = oldServer(tasks(ROWS));
    const { db, app } = await device(server);
    await app.pull();
    server.set([
      [`tasks/${task(1).id}`, task(1, { status: 'new' })],
      [`tasks/${task(ROWS).id}`, task(ROWS, { status: 'new' })],
      [`tasks/${task(2).id}`, undefined],
    ]);
    // The call runs again on them.
    await app.mutate.rename({ id: task(1).id, name: 'mine' });
    await app.pull();
    expect((await db.tasks.migration()).remaining).toBe(0);
    expect(await db.tasks.where({ state: 'new' }).toArray({ wait: false })).toEqual(
      [
        { id: task(ROWS).id, name: `Task ${ROWS}`, rank: ROWS, state: 'new' },
        { id: task(1).id, name: 'mine', rank: 1, state: 'new' },
      ].sort((a, b) => a.rank - b.rank),
    );
    expect(await db.tasks.count()).toBe(ROWS);
  });

  it('stay as they are if migrate refuses them, and hold back no other row', async () => {
    const bad = task(7, { status: 5 as never });
    const server = oldServer([...tasks(7), bad, ...tasks(ROWS - 8, 8)]);
    const refusing = {
      ...tasksV2,
      definition: {
        ...tasksV2.definition,
        migrate: (row: TaskV1) => {
          if (row.status === (5 as never)) throw new Error('no');
          return tasksV2.definition.migrate(row);
        },
      },
    };
    const db = closing(await open('app', { storage: memory(), tables: { tasks: refusing } }));
    const app = await db.connect(
      mutators({
        mutators: {},
        pull: (request) => json(server.pull(request)),
        push: (request) => json(server.push(request)),
      }),
    );
    await app.pull();
    await migrated(db);
    expect(await db.tasks.migration()).toMatchObject({ remaining: 0, refused: 1 });
    expect(await db.tasks.where({ state: 'open' }).count({ wait: false })).toBe(ROWS / 3);
    const cause = await db.tasks.get(bad.id).catch((error: HedgerowError) => error);
    expect(cause).toMatchObject({
      ...ofKind('invalid-argument/value'),
      table: 'tasks',
      key: bad.id,
    });
    expect(await db.get(`tasks/${bad.id}`)).toEqual(bad);
  });
});

/** Code that tables load late runs late, or not at all. */
import { afterEach, expect, it, vi } from 'vitest';
import { memory, open, rowType, table } from '../../../src/index.js';
import { rest } from '../../support/watching.js';

/** The import of the code of filters waits for this. */
const gate = vi.hoisted(() => ({ opened: Promise.resolve() }));

vi.mock(import('../../../src/store/tables/on-demand-table-code.js'), async (original) => {
  const later = await original();
  const loadMatch = async () => {
    await gate.opened;
    return later.loadMatch();
  };
  return { ...later, loadMatch };
});

const rows = table({ schema: rowType<{ id: string; n: number }>(), key: 'id' });

afterEach(() => {
  gate.opened = Promise.resolve();
});

it('a watch with a filter hears of changes from before its code had come, unless it was stopped', async () => {
  await using db = await open('late', { storage: memory(), tables: { rows } });
  let letIn = () => {};
  gate.opened = new Promise((resolve) => {
    letIn = resolve;
  });
  const [heard, stopped, aborted] = [[], [], []] as unknown[][];
  const query = db.rows.all().filter(({ n }) => n > 1);
  query.watch((changes) => heard?.push(...changes));
  const stop = query.watch((changes) => stopped?.push(...changes));
  const aborting = new AbortController();
  query.watch((changes) => aborted?.push(...changes), { signal: aborting.signal });
  await db.rows.put({ id: 'a', n: 1 });
  await db.rows.put({ id: 'b', n: 2 });
  await rest();
  expect(heard).toEqual([]);
  stop();
  aborting.abort();
  letIn();
  await expect.poll(() => heard?.length).toBe(1);
  expect(heard).toMatchObject([{ op: 'insert', key: 'b' }]);
  await rest();
  expect([stopped, aborted]).toEqual([[], []]);
});

import { expect, it } from 'vitest';
import { memory, open, rowType, table } from '../../../src/index.js';
import { mutators } from '../../../src/sync/mutators/index.js';

interface Issue {
  id: string;
  title: string;
  status: string;
}
const issues = table({ schema: rowType<Issue>(), key: 'id', indexes: { byState: ['status'] } });

it('mutators have the tables of their store', async () => {
  await using db = await open('app', { storage: memory(), tables: { issues } });
  const link = await db.connect(
    mutators({
      mutators: {
        create: (tx, issue: Issue) => tx.issues.insert(issue),
        closeAll: async (tx) => {
          for await (const one of tx.issues.where({ status: 'open' })) {
            await tx.issues.update(one.id, { status: 'closed' });
          }
        },
      },
      pull: async () => new Response('{"cookie":1,"lastMutationIDChanges":{},"patch":[]}'),
      push: async () => new Response('{}'),
    }),
  );
  await link.mutate.create({ id: '1', title: 'Gate', status: 'open' });
  await link.mutate.create({ id: '2', title: 'Roof', status: 'open' });
  await link.mutate.closeAll();
  expect(await db.issues.where({ status: 'closed' }).count()).toBe(2);
  await expect(
    link.mutate.create({ id: '1', title: 'Again', status: 'open' }),
  ).rejects.toMatchObject({ code: 'exists', table: 'issues', key: '1' });
});

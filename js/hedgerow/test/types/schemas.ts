/** Schemas give the types of stored rows and of written rows. */

import { type } from 'arktype';
import { expectTypeOf } from 'expect-type';
import { type InputOf, memory, open, type RowOf, table } from 'hedgerow';
import * as v from 'valibot';
import { z } from 'zod';

interface Row {
  id: string;
  title: string;
  count: number;
  state: 'open' | 'closed';
  owner?: string | undefined;
}

/** A written row: without members that have defaults, and with a number as text. */
interface Input {
  id: string;
  title: string;
  count: string;
  state?: 'open' | 'closed' | undefined;
  owner?: string | undefined;
}

const indexes = { byState: ['state', 'count'] } as const;

const zodTable = table({
  schema: z.object({
    id: z.string(),
    title: z.string(),
    count: z.string().transform((text) => text.length),
    state: z.enum(['open', 'closed']).default('open'),
    owner: z.string().optional(),
  }),
  key: 'id',
  indexes,
});
expectTypeOf<RowOf<typeof zodTable>>().toEqualTypeOf<Row>();
expectTypeOf<InputOf<typeof zodTable>>().toEqualTypeOf<Input>();

const valibotTable = table({
  schema: v.object({
    id: v.string(),
    title: v.string(),
    count: v.pipe(
      v.string(),
      v.transform((text) => text.length),
    ),
    state: v.optional(v.picklist(['open', 'closed']), 'open'),
    owner: v.optional(v.string()),
  }),
  key: 'id',
  indexes,
});
expectTypeOf<RowOf<typeof valibotTable>>().toEqualTypeOf<Row>();
expectTypeOf<InputOf<typeof valibotTable>>().toEqualTypeOf<Input>();

const arkTable = table({
  schema: type({
    id: 'string',
    title: 'string',
    count: type('string').pipe((text) => text.length),
    state: "'open' | 'closed' = 'open'",
    'owner?': 'string | undefined',
  }),
  key: 'id',
  indexes,
});
expectTypeOf<RowOf<typeof arkTable>>().toEqualTypeOf<Row>();
expectTypeOf<InputOf<typeof arkTable>>().branded.toEqualTypeOf<
  Omit<Input, 'state'> & { state?: 'open' | 'closed' }
>();

const tables = { zod: zodTable, valibot: valibotTable, ark: arkTable };
const db = await open('app', { storage: memory(), tables });
for (const handle of [db.zod, db.valibot, db.ark] as const) {
  expectTypeOf(await handle.get('1')).toEqualTypeOf<Row | undefined>();
}
await db.zod.put({ id: '1', title: 'x', count: '1' });
await db.valibot.put({ id: '1', title: 'x', count: '1' });
await db.ark.put({ id: '1', title: 'x', count: '1' });
await db.zod.update('1', { count: '2' });
await db.zod
  .where({ state: 'open', count: { gte: 1 } })
  .using('byState')
  .first();
await db.valibot.where({ state: 'open', owner: null }).first();
await db.ark.orderBy(['state', 'count']).first();
await db.transaction((tx) => tx.zod.put({ id: '1', title: 'x', count: '1', state: 'open' }));

// @ts-expect-error a written row has a text there
await db.zod.put({ id: '1', title: 'x', count: 1 });
// @ts-expect-error a written row has a text there
await db.valibot.put({ id: '1', title: 'x', count: 1 });
// @ts-expect-error a written row has a text there
await db.ark.put({ id: '1', title: 'x', count: 1 });
// @ts-expect-error a member is missing ['title']
await db.zod.put({ id: '1', count: '1' });
// @ts-expect-error a member is missing ['title']
await db.valibot.insert({ id: '1', count: '1' });
// @ts-expect-error a member is missing [Property 'title' is missing]
await db.ark.putMany([{ id: '1', count: '1' }]);
// @ts-expect-error rows have a number there
await db.zod.where({ count: '1' });
// @ts-expect-error not one of the values
await db.valibot.where({ state: 'lost' });
// @ts-expect-error no such column
await db.ark.where({ nope: 1 });
// @ts-expect-error no such index ["byState"]
await db.zod.all().using('nope');
// @ts-expect-error a number is no key
await db.ark.get(1);

const small = z.object({ id: z.string(), at: z.number() });
table({ schema: small, key: ['at', 'id'], validate: false, prefix: 's/' });
// @ts-expect-error not a member ["nope"]
table({ schema: small, key: 'nope' });
// @ts-expect-error a number is a key only in a list ["at"]
table({ schema: small, key: 'at' });
// @ts-expect-error not a member [rows have no member nope] ["at"]
table({ schema: small, key: 'id', indexes: { bad: ['nope'] } });
// @ts-expect-error a member of no definition [a definition has no such member]
table({ schema: small, key: 'id', indxes: {} });
// @ts-expect-error JSON has no Date [JSON does not keep /born]
table({ schema: z.object({ id: z.string(), born: z.date() }), key: 'id' });
table({ schema: z.object({ id: z.string(), born: z.date() }), key: 'id', values: 'structured' });
// @ts-expect-error no schema
table({ schema: { id: 'string' }, key: 'id' });
// @ts-expect-error a schema of texts, not of rows
table({ schema: z.string(), key: 'id' });
// @ts-expect-error without a schema: `schema: rowType<Row>()` gives the type of rows
table({ key: 'id' });

// Branded members keep their brand.
const branded = table({ schema: z.object({ id: z.string().brand<'user'>() }), key: 'id' });
const users = (await open('users', { tables: { users: branded } })).users;
await users.get(z.string().brand<'user'>().parse('u1'));
// @ts-expect-error a string that is no key
await users.get('u1');

/** Handles of a store in a worker: they have the types of the store, except the members that do not cross. */

import { expectTypeOf } from 'expect-type';
import { live, liveRow } from 'hedgerow';
import { verifyProof } from 'hedgerow/proofs';
import { connect, type RemoteStore, serve } from 'hedgerow/worker';
import {
  type db as here,
  type Issue,
  id,
  issue,
  type issues,
  type meetings,
  type steps,
} from './app.js';

type Tables = {
  readonly issues: typeof issues;
  readonly steps: typeof steps;
  readonly meetings: typeof meetings;
};

declare const worker: Worker;
const db = await connect<Tables>(worker, { tables: ['issues'] });

// Right calls.
expectTypeOf(db).toEqualTypeOf<RemoteStore<Tables>>();
expectTypeOf(await db.issues.get(id)).toEqualTypeOf<Issue | undefined>();
expectTypeOf(await db.issues.where({ status: 'open' }).limit(1).toArray()).toEqualTypeOf<Issue[]>();
expectTypeOf(live(db.issues.orderBy('modified')).get().rows).toEqualTypeOf<readonly Issue[]>();
expectTypeOf(liveRow(db.issues, id).get().value).toEqualTypeOf<Issue | undefined>();
expectTypeOf(await db.root).toEqualTypeOf<string>();
await db.issues.update(id, (one) => ({ ...one, status: 'closed' }));
await db.transaction(async (tx) => {
  tx.issues.put(issue);
  expectTypeOf(await tx.issues.get(id)).toEqualTypeOf<Issue | undefined>();
});
for await (const one of db.issues) expectTypeOf(one).toEqualTypeOf<Issue>();
const draft = await db.branches.open('draft');
expectTypeOf(draft).toEqualTypeOf<RemoteStore<Tables>>();
await db.branches.merge(draft);
await connect(new SharedWorker('x'));
await connect(new MessageChannel().port1);
declare const open: () => Promise<typeof here>;
serve({ open });

// Values that cannot cross.
// @ts-expect-error a function of a row
db.issues.all().filter(() => true);
// @ts-expect-error a promise here
verifyProof(db.root, 'a', new Uint8Array());
// @ts-expect-error a function that decides a conflict
db.branches.merge('draft', { onConflict: () => undefined });
// @ts-expect-error no writer
db.writer();
// @ts-expect-error connections belong to the worker
db.connect({} as never);
// @ts-expect-error an unknown member
db.issues.where({ nope: 1 });
// @ts-expect-error no table
db.orders;
// @ts-expect-error a store of the page is no store of the worker
db.branches.merge(await open());
// @ts-expect-error no worker
connect('worker.js');

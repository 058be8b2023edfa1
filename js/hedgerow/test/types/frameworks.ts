/**
 * The types that the entries for frameworks infer: rows of queries, of tables by their keys, of ranges and of indexes.
 */

import type { Signal } from '@angular/core';
import { expectTypeOf } from 'expect-type';
import { type LiveCountState, type LiveRowState, type LiveState, liveRow } from 'hedgerow';
import { injectLive, injectLiveCount, injectLiveRow, type Within } from 'hedgerow/angular';
import * as react from 'hedgerow/react';
import * as solid from 'hedgerow/solid';
import * as svelte from 'hedgerow/svelte';
import * as vue from 'hedgerow/vue';
import { type ComputedRef, reactive, ref, shallowRef } from 'vue';
import { db, type Issue, type IssueId, id, type Step } from './app.js';

type Scalar = string | number | boolean | null;
type SecondaryKey = Scalar | readonly Scalar[];
type Row = readonly [key: string, value: unknown];
type IndexRow<Value = unknown> = readonly [key: string, value: Value, secondary: SecondaryKey];

const draft = await db.branches.open('draft');
const snapshot = db.snapshot();
const open = db.issues.where({ status: 'open' }).orderBy('modified').limit(5);
declare const later: typeof db | undefined;
declare const chosen: IssueId | null;

// React: the states.
expectTypeOf(react.useLive(open)).toEqualTypeOf<LiveState<Issue>>();
expectTypeOf(react.useLive(db.steps).rows).toEqualTypeOf<readonly Step[]>();
expectTypeOf(react.useLive(later?.issues).rows).toEqualTypeOf<readonly Issue[]>();
expectTypeOf(react.useLive(later).rows).toEqualTypeOf<readonly Row[]>();
expectTypeOf(react.useLive<Issue>(draft, { prefix: 'issues/' }).rows[0]![1]).toEqualTypeOf<Issue>();
expectTypeOf(react.useLive(db, { index: 'a' }).rows).toEqualTypeOf<readonly IndexRow[]>();
expectTypeOf(react.useLiveRow(db.issues, id)).toEqualTypeOf<LiveRowState<Issue>>();
expectTypeOf(react.useLiveRow(later?.steps, ['p', 1]).value).toEqualTypeOf<Step | undefined>();
expectTypeOf(react.useLiveRow(db.issues, chosen).value).toEqualTypeOf<Issue | undefined>();
expectTypeOf(react.useLiveRow<Issue>(draft, 'issues/1').value).toEqualTypeOf<Issue | undefined>();
expectTypeOf(react.useLiveCount(open)).toEqualTypeOf<LiveCountState>();
expectTypeOf(react.useLiveCount(later, { prefix: 'a' }).count).toEqualTypeOf<number | undefined>();
expectTypeOf(react.useLiveSuspense(open)).toEqualTypeOf<LiveState<Issue>>();
expectTypeOf(react.useLiveRowSuspense(db.issues, id)).toEqualTypeOf<LiveRowState<Issue>>();
// @ts-expect-error a key of another table
react.useLiveRow(db.steps, id);
// @ts-expect-error a key of a table is branded
react.useLiveRow(db.issues, '4711');
// @ts-expect-error a snapshot does not change
react.useLive(snapshot.issues.all());
// @ts-expect-error nor do its rows
react.useLiveRow(snapshot.issues, id);
// @ts-expect-error a range has no limit
react.useLiveCount(db, { limit: 1 });
// @ts-expect-error a function is no argument in React
react.useLive(() => open);

// Vue: refs of the states, by values, refs and getters.
expectTypeOf(vue.useLive(open)).toEqualTypeOf<ComputedRef<LiveState<Issue>>>();
expectTypeOf(vue.useLive(() => later?.issues).value.rows).toEqualTypeOf<readonly Issue[]>();
expectTypeOf(vue.useLive(ref(open)).value.rows).toEqualTypeOf<readonly Issue[]>();
expectTypeOf(vue.useLive(ref(db)).value.rows).toEqualTypeOf<readonly Row[]>();
expectTypeOf(vue.useLive(reactive({ db }).db.issues).value.rows).toEqualTypeOf<readonly Issue[]>();
expectTypeOf(vue.useLive(later, () => ({ index: 'a' })).value.rows).toEqualTypeOf<
  readonly IndexRow[]
>();
expectTypeOf(vue.useLiveRow(db.issues, () => chosen).value.value).toEqualTypeOf<
  Issue | undefined
>();
expectTypeOf(vue.useLiveRow(ref(db.issues), shallowRef(id)).value.value).toEqualTypeOf<
  Issue | undefined
>();
expectTypeOf(vue.useLiveCount(() => open)).toEqualTypeOf<ComputedRef<LiveCountState>>();
// @ts-expect-error a key of another table
vue.useLiveRow(db.steps, () => id);

// Svelte and Solid: the states, by values and functions.
for (const { useLive, useLiveRow, useLiveCount } of [svelte, solid]) {
  expectTypeOf(useLive(() => later?.issues.where({ status: 'open' }))).toEqualTypeOf<
    LiveState<Issue>
  >();
  expectTypeOf(useLive(() => later, { prefix: 'a' }).rows).toEqualTypeOf<readonly Row[]>();
  expectTypeOf(useLive(db, () => ({ index: 'a', equals: 1 })).rows).toEqualTypeOf<
    readonly IndexRow[]
  >();
  expectTypeOf(useLiveRow(() => later?.steps, ['p', 1]).value).toEqualTypeOf<Step | undefined>();
  expectTypeOf(useLiveRow<Issue>(db, () => 'issues/1').value).toEqualTypeOf<Issue | undefined>();
  expectTypeOf(useLiveCount(() => open).count).toEqualTypeOf<number | undefined>();
  // @ts-expect-error a key of another table
  useLiveRow(db.steps, () => id);
}

// Angular: signals of the states.
declare const within: Within;
declare const signal: Signal<typeof db | undefined>;
expectTypeOf(injectLive(() => signal()?.issues)).toEqualTypeOf<Signal<LiveState<Issue>>>();
expectTypeOf(injectLive(open, within)().rows).toEqualTypeOf<readonly Issue[]>();
expectTypeOf(injectLive(signal, { index: 'a' }, within)().rows).toEqualTypeOf<
  readonly IndexRow[]
>();
expectTypeOf(injectLive(signal, undefined, within)().rows).toEqualTypeOf<readonly Row[]>();
expectTypeOf(injectLiveRow(db.issues, () => chosen)().value).toEqualTypeOf<Issue | undefined>();
expectTypeOf(injectLiveCount(open, within)().count).toEqualTypeOf<number | undefined>();

// A row of a table without a framework.
expectTypeOf(liveRow(db.issues, id).get().value).toEqualTypeOf<Issue | undefined>();
liveRow(db.issues, id).change(db.issues, id);
// @ts-expect-error a key of another table
liveRow(db.steps, id);

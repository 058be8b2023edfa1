/** The tests' view of a framework, and the contents that its components show. */
import { memory, open, rowType, type Store, table } from '../../../src/index.js';
import type { LiveQuery, LiveStatus, Watchable } from '../../../src/live/types.js';
import type { Entry } from '../../support/models/store-model.js';

/** The calls of an entry. */
export const CALLS = ['rows', 'row', 'count', 'connection'] as const;
export type Call = (typeof CALLS)[number];

/** The state of any live call. */
export interface State extends LiveStatus {
  readonly rows?: readonly unknown[];
  readonly value?: unknown;
  readonly count?: number | undefined;
  readonly isPending?: boolean;
}

/** A component that is mounted. */
export interface Page {
  /** The states that it has shown, in order. */
  readonly states: readonly State[];
  /** Returns the JSON of the state in the document. */
  text(): string;
  /** Gives it other arguments. */
  set(...args: unknown[]): void;
  unmount(): void;
}

/** The ways to mount components. */
export interface Framework {
  readonly name: string;
  mount(call: Call, ...args: unknown[]): Page | Promise<Page>;
  /** Unmounts all mounted components. */
  clear(): void;
}

export const rowsOf = (count: number): Entry[] =>
  Array.from({ length: count }, (_, at) => [`k${at}`, { at }]);

export async function storeOf(count = 0, options = {}): Promise<Store> {
  const db = await open('frameworks', { storage: memory(), ...options });
  if (count > 0) await db.putMany(rowsOf(count));
  return db;
}

/** Whether the document has the last state: some frameworks render it a moment later. */
export const isInDocument = (page: Page) => page.text() === JSON.stringify(last(page));
/** Returns the last state. */
export const last = ({ states }: Page): State => states.at(-1) as State;
/** Whether the last state belongs to the current arguments. */
export const isReady = (page: Page) => {
  const { status, isStale } = last(page) ?? {};
  return status === 'ready' && !isStale;
};
export const ready = (own: object) => ({
  status: 'ready',
  ...('rows' in own && { offset: 0 }),
  ...own,
  isStale: false,
  error: undefined,
});
export const loading = (own: object) => ({ ...ready(own), status: 'loading' });

/** Wraps `db` so that its rows are missing until `open` is called. */
export function gated(db: Watchable, options: object) {
  let open = () => {};
  let gate: Promise<void> | undefined = new Promise((resolve) => {
    open = () => {
      gate = undefined;
      resolve();
    };
  });
  const rowOf = (key: string) => key;
  const whenReady = () => gate;
  const query: LiveQuery<string> = { source: () => ({ db, options, rowOf, whenReady }) };
  return { query, open };
}

export interface Issue {
  id: string;
  state: 'open' | 'closed';
  at: number;
}
export const issues = table({
  schema: rowType<Issue>(),
  key: 'id',
  indexes: { byState: ['state', 'at'] },
});
export const steps = table({
  schema: rowType<{ of: string; at: number; text: string }>(),
  key: ['of', 'at'],
});
export const issueOf = (at: number): Issue => ({
  id: `i${at}`,
  state: at % 2 ? 'closed' : 'open',
  at,
});

export async function tablesOf(count: number) {
  const db = await open('tables', { storage: memory(), tables: { issues, steps } });
  await db.issues.putMany(Array.from({ length: count }, (_, at) => issueOf(at)));
  return db;
}

/** A row that is shown. */
export const rowAt = <Row>(page: Page, at: number) => last(page).rows?.[at] as Row | undefined;
export const keyed = rowAt<Entry>;

/** What a framework is to the tests, and what its components are to show. */
import { memory, open, type Store } from '../../../src/index.js';
import type { LiveQuery, LiveStatus, Watchable } from '../../../src/live/types.js';
import { table } from '../../../src/store/tables/index.js';
import type { Entry } from '../../support/models/store-model.js';

/** The calls of an entry. */
export const CALLS = ['rows', 'row', 'count'] as const;
export type Call = (typeof CALLS)[number];

/** What is shown by any of them. */
export interface State extends LiveStatus {
  readonly rows?: readonly unknown[];
  readonly value?: unknown;
  readonly count?: number | undefined;
}

/** A component that is mounted. */
export interface Page {
  /** What it has shown, one after the other. */
  readonly states: readonly State[];
  /** What is in the document: the JSON of a state. */
  text(): string;
  /** Gives it other arguments. */
  set(...args: unknown[]): void;
  unmount(): void;
}

/** How components are mounted that show something. */
export interface Framework {
  readonly name: string;
  mount(call: Call, ...args: unknown[]): Page | Promise<Page>;
  /** Unmounts what is still mounted. */
  clear(): void;
}

export const rowsOf = (count: number): Entry[] =>
  Array.from({ length: count }, (_, at) => [`k${at}`, { at }]);

export async function storeOf(count = 0, options = {}): Promise<Store> {
  const db = await open('frameworks', { storage: memory(), ...options });
  if (count > 0) await db.putMany(rowsOf(count));
  return db;
}

/** Whether the document has what is shown: some frameworks bring it there a moment later. */
export const isInDocument = (page: Page) => page.text() === JSON.stringify(last(page));
/** What is shown. */
export const last = ({ states }: Page): State => states.at(-1) as State;
/** Whether what is shown is that of the arguments. */
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

/** Rows of `db` that are there once `open` was called. */
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
export const issues = table<Issue>()({ key: 'id', indexes: { byState: ['state', 'at'] } });
export const steps = table<{ of: string; at: number; text: string }>()({ key: ['of', 'at'] });
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

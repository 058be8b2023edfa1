/** The store of all five apps, and their queries and changes. */
import { open, type rowType, table } from 'hedgerow';
import { opened } from './opened.js';
import { type Filter, messageOf } from './text.js';

export interface Issue {
  readonly id: string;
  readonly title: string;
  readonly state: 'open' | 'closed';
  /** When it was written or its state has changed, in milliseconds. */
  readonly modified: number;
}

/** Checks titles. A schema of zod, valibot or arktype can stand here. */
const schema: ReturnType<typeof rowType<Issue>> = {
  '~standard': {
    version: 1,
    vendor: 'example',
    validate(row) {
      const { length } = (row as Issue).title;
      if (length > 0 && length <= 200) return { value: row as Issue };
      const message = length > 0 ? 'a title has at most 200 letters' : 'an issue needs a title';
      return { issues: [{ message, path: ['title'] }] };
    },
  },
};

export const issues = table({
  schema,
  key: 'id',
  indexes: { byState: ['state', 'modified'], byModified: ['modified'] },
});

/** One store for all five: open two of them side by side. */
export const db = await opened(open('issues', { tables: { issues } }));

/** Returns the query of a list: the newest first. */
export function issuesOf(filter: Filter) {
  const chosen = filter === 'all' ? db.issues.all() : db.issues.where({ state: filter });
  return chosen.orderBy('modified', 'desc');
}

export const openIssues = issuesOf('open');

/** Adds the text of a form. If it cannot, returns the reason, and leaves the text in the form. */
export async function add(form: HTMLFormElement): Promise<string> {
  const input = form.elements.namedItem('title') as HTMLInputElement;
  const title = input.value.trim();
  const issue = { id: crypto.randomUUID(), title, state: 'open', modified: Date.now() } as const;
  // At once: the next one may be typed before this one is stored.
  form.reset();
  const failure = await failureOf(db.issues.insert(issue));
  if (failure && input.value === '') input.value = title;
  return failure;
}

/** Opens a closed issue, closes an open one. If it cannot, returns the reason. */
export function toggle({ id, state }: Issue): Promise<string> {
  const next = state === 'open' ? 'closed' : 'open';
  return failureOf(db.issues.update(id, { state: next, modified: Date.now() }));
}

/** Returns the reason of a failure; an empty text after a success. */
const failureOf = (work: Promise<unknown>) =>
  work.then(
    () => '',
    (error) => `Not done: ${messageOf(error)}`,
  );

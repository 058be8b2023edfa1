/** The store of all five apps, and what they ask of it. */
import { open } from 'hedgerow';
import { type StandardSchema, table } from 'hedgerow/tables';
import { opened } from './opened.js';
import { type Filter, messageOf } from './text.js';

export interface Issue {
  readonly id: string;
  readonly title: string;
  readonly state: 'open' | 'closed';
  /** When it was written or its state has changed, in milliseconds. */
  readonly modified: number;
}

/** What a title must be. A schema of zod, valibot or arktype can stand here. */
const schema: StandardSchema<Issue> = {
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

/** What a list shows: the newest first. */
export function issuesOf(filter: Filter) {
  const chosen = filter === 'all' ? db.issues.all() : db.issues.where({ state: filter });
  return chosen.orderBy('modified', 'desc');
}

export const openIssues = issuesOf('open');

/** Adds what is typed in a form. Returns why not, if it cannot, and leaves the text in the form. */
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

/** Opens a closed issue, closes an open one. Returns why not, if it cannot. */
export function toggle({ id, state }: Issue): Promise<string> {
  const next = state === 'open' ? 'closed' : 'open';
  return failureOf(db.issues.update(id, { state: next, modified: Date.now() }));
}

/** Why something has failed; nothing if it has not. */
const failureOf = (work: Promise<unknown>) =>
  work.then(
    () => '',
    (error) => `Not done: ${messageOf(error)}`,
  );

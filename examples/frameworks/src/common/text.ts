/** The words on the pages. */

export const FILTERS = ['open', 'closed', 'all'] as const;
export type Filter = (typeof FILTERS)[number];

const numbers = new Intl.NumberFormat('en');
const times = new Intl.DateTimeFormat('en', {
  month: 'short',
  day: 'numeric',
  hour: 'numeric',
  minute: '2-digit',
});

export const numberText = (value: number) => numbers.format(value);
export const timeText = (ms: number) => times.format(ms);

/** Says how many issues are open; empty until that is known. */
export function countText(count: number | undefined): string {
  if (count === undefined) return '';
  return `${count === 0 ? 'No' : numberText(count)} open ${count === 1 ? 'issue' : 'issues'}`;
}

/** Returns the text in the place of missing rows. */
export function emptyText(status: string, rows: readonly unknown[], filter: Filter): string {
  if (rows.length > 0 || status === 'error') return '';
  if (status === 'loading') return 'Reading …';
  return filter === 'all' ? 'No issues yet. Write the first one.' : `No ${filter} issues.`;
}

/** Explains why a list or a count is not kept up to date; empty if it is. */
export const errorText = (error: unknown) =>
  error === undefined ? '' : `Not up to date: ${messageOf(error)}. Reload the page.`;

export const messageOf = (error: unknown) => (error instanceof Error ? error.message : `${error}`);

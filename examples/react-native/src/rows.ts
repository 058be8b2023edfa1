/** Makes rows as a server would send them: pages of issues. */

export interface Issue {
  readonly id: string;
  readonly title: string;
  readonly owner: string;
  readonly priority: number;
  readonly modified: number;
}

export const OWNERS = ['ann', 'bob', 'carla', 'dmitri', 'eva'] as const;

const PAGE = 500;

function issue(at: number): Issue {
  return {
    id: String(at).padStart(7, '0'),
    title: `Hedge ${at} has grown over the fence of number ${(at * 7919) % 1000}`,
    owner: OWNERS[at % OWNERS.length] ?? 'ann',
    priority: (at * 31) % 5,
    modified: 1_700_000_000 + at,
  };
}

/** Yields `count` rows in pages; an app would wait for its server instead of the timer. */
export async function* fetched(count: number): AsyncGenerator<Issue, void, void> {
  for (let at = 0; at < count; at++) {
    if (at % PAGE === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    yield issue(at);
  }
}

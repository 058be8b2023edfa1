/** The double of a server of plain rows: it keeps a version of each row, and takes a batch completely or not at all. */
import { isDeepStrictEqual } from 'node:util';
import type {
  RestChange,
  RestPulled,
  RestPullRequest,
  RestPushRequest,
} from '../../../src/sync/rest/index.js';

interface Versioned {
  /** `undefined` for a deleted row. */
  readonly value: unknown;
  readonly version: number;
}

export class RestDouble {
  readonly #rows = new Map<string, Versioned>();
  #version = 0;
  readonly requests = { pull: 0, push: 0, stale: 0 };
  /** Keys that it refuses, and its message for each. */
  readonly refuses = new Map<string, string>();
  /** Whether it compares the base version of a change, and answers 409. */
  compares = true;

  get rows(): Record<string, unknown> {
    const kept = [...this.#rows].filter(([, { value }]) => value !== undefined);
    kept.sort(([a], [b]) => (a < b ? -1 : 1));
    return Object.fromEntries(kept.map(([key, { value }]) => [key, value]));
  }

  /** Changes rows by itself; `undefined` deletes a row. */
  set(rows: Readonly<Record<string, unknown>>): void {
    this.#version += 1;
    for (const [key, value] of Object.entries(rows)) this.#put(key, value);
  }

  #put(key: string, value: unknown): void {
    this.#rows.set(key, { value, version: this.#version });
  }

  pull({ cookie }: RestPullRequest): RestPulled | undefined {
    this.requests.pull += 1;
    const since = cookie === null ? 0 : (cookie as { version: number }).version;
    if (cookie !== null && since === this.#version) return undefined;
    const fresh = [...this.#rows].filter(([, { version }]) => version > since);
    const patch = fresh.map(([key, { value }]) =>
      value === undefined ? { op: 'delete', key } : { op: 'put', key, value },
    );
    return { cookie: { version: this.#version }, patch };
  }

  push({ changes }: RestPushRequest): Response {
    this.requests.push += 1;
    const isStale = ({ key, before }: RestChange) =>
      !isDeepStrictEqual(this.#rows.get(key)?.value, before);
    const taken = changes.filter(({ key }) => !this.refuses.has(key));
    if (this.compares && taken.some(isStale)) {
      this.requests.stale += 1;
      return new Response(null, { status: 409 });
    }
    this.#version += 1;
    for (const { key, value } of taken) this.#put(key, value);
    const refused = changes.flatMap(({ key }) => {
      const why = this.refuses.get(key);
      return why === undefined ? [] : [{ key, why }];
    });
    return new Response(JSON.stringify({ refused }));
  }
}

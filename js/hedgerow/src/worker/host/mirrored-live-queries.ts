/** The live queries that a page mirrors. */
import { type Live, type LiveCount, live, liveCount } from '../../live/index.js';
import type { ListSender } from './list-batch-sender.js';
import { LiveQuerySender, type StatePatch } from './live-query-sender.js';
import { callMember } from './replay-call-path.js';

type Query = Parameters<typeof live<unknown>>[0];
type Args = [query: Query, options?: never];

export class LiveMirrors {
  readonly #all = new Map<number, { readonly args: Args; readonly mirrored: LiveQuerySender }>();

  /**
   * Begins a live query; returns a function that ends it. `kind` is `'rows'`, `'count'`, or `'row'` of a table, with
   * its key in the place of options. The query takes over rows of the query with the number `before`; the page has
   * taken `taken` states of that query.
   */
  begin(
    id: number,
    object: object,
    [kind, options, before, taken]: unknown[],
    outlet: ListSender,
    tell: (patch: StatePatch) => Promise<void>,
  ): () => void {
    const query = () => callMember(object, 'rowSource', [options]);
    const given = kind === 'row' ? [{ source: query }] : [object, options];
    const args = (options === undefined ? [object] : given) as Args;
    const old = kind === 'count' ? undefined : this.#all.get(Number(before));
    let shown: Live<unknown> | LiveCount;
    if (kind === 'count') shown = liveCount(...args);
    else {
      // Changes the old query to the new one, so that rows of both stay the same objects.
      const rows = live(...(old?.args ?? args));
      if (old !== undefined) rows.change(...args);
      shown = rows;
    }
    const mirrored = new LiveQuerySender(shown, outlet, tell, old?.mirrored.rowsOf(taken));
    this.#all.set(id, { args, mirrored });
    return () => mirrored.end();
  }

  delete(id: number): void {
    this.#all.delete(id);
  }
}

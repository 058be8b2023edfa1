/** The page of one contestant: it fills the database, or shows one row of it and measures until the row is drawn. */
import type { Row } from '../../page/rows.js';

/** A way to keep rows, with the calls that a page of its documentation has. */
export interface Contestant {
  fill(rows: readonly Row[]): Promise<unknown>;
  /** Opens the database, and reads one row. */
  first(id: string): Promise<Row | undefined>;
  /** Writes one row: the first write after the first read. */
  write(row: Row): Promise<unknown>;
}

/** Figures of a visit, in milliseconds since the navigation began. */
export interface Visit {
  readonly isDone?: boolean;
  readonly error?: string;
  /** When the script of the page ran, the row was read, and the row was drawn. */
  readonly scriptMs?: number;
  readonly readMs?: number;
  readonly drawnMs?: number;
  /** When a write that follows at once had its answer. */
  readonly writtenMs?: number;
}

declare global {
  interface Window {
    visit: Visit;
  }
}

/** Resolves after the next frame was drawn. */
const drawn = () =>
  new Promise<void>((resolve) => {
    requestAnimationFrame(() => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => resolve();
      port2.postMessage(undefined);
    });
  });

async function visit({ fill, first, write }: Contestant): Promise<Visit> {
  const scriptMs = performance.now();
  const [act, argument = ''] = location.hash.slice(1).split('=');
  if (act === 'fill') {
    const { makeRows } = await import('../../page/rows.js');
    await fill(makeRows(Number(argument)));
    return { isDone: true };
  }
  const row = await first(argument);
  if (row?.id !== argument) throw new Error(`the row ${argument} is not there`);
  const readMs = performance.now();
  document.body.textContent = row.title;
  await drawn();
  const drawnMs = performance.now();
  if (act !== 'write') return { isDone: true, scriptMs, readMs, drawnMs };
  await write({ ...row, modified: row.modified + 1 });
  return { isDone: true, scriptMs, readMs, drawnMs, writtenMs: performance.now() };
}

/** Runs the page: `#fill=<rows>`, `#get=<key>`, or `#write=<key>`, which also writes the row. */
export function show(contestant: Contestant): void {
  window.visit = {};
  visit(contestant).then(
    (visited) => {
      window.visit = visited;
    },
    (cause: unknown) => {
      window.visit = { isDone: true, error: String(cause) };
    },
  );
}

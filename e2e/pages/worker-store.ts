/** The worker of `worker.ts`: opens a store, loads rows and reads them. */
import { open } from 'hedgerow';

export interface Answer {
  readonly root: string;
  readonly rows: number;
  /** Slices of work that it took. */
  readonly slices: number;
}

async function run({ data }: MessageEvent<{ name: string; rows: number }>): Promise<void> {
  const { name, rows } = data;
  const db = await open(name);
  const entries = Array.from({ length: rows }, (_, at): [string, unknown] => [
    `row/${String(at).padStart(7, '0')}`,
    { at, text: `the text of row ${at}` },
  ]);
  const { slices } = (await db.putMany(entries)).stats;
  let found = 0;
  for await (const _ of db.scan()) found += 1;
  await db.close();
  const answer: Answer = { root: db.root, rows: found, slices };
  postMessage(answer);
}

// The page sees it as an error of its worker.
addEventListener('message', (event) => run(event).catch(reportError));

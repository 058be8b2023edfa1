/** The page of `tests/inspector.spec.ts`: an app that opens the inspector, and has stores to look at. */

import { openInspector } from '@hedgerow/inspector';
import { type Trace, trace } from '@hedgerow/inspector/trace';
import { open, type Store } from 'hedgerow';

const page = new URL('@hedgerow/inspector/page.html', import.meta.url);

for (const as of ['window', 'corner'] as const) {
  document.getElementById(as)?.addEventListener('click', () => {
    openInspector({ page, store: 'inspected', as });
  });
}

const keyOf = (n: number) => `issue/${String(n).padStart(6, '0')}`;

/** Makes a store with rows, indexes, bytes and a branch. */
async function make(): Promise<Store> {
  const indexes = { byState: { path: ['/state', '/n'] }, byWord: { path: { words: '/title' } } };
  const db = await open('inspected', { indexes });
  const rows = Array.from({ length: 2000 }, (_, n) => {
    return [keyOf(n), { n, state: n % 4 ? 'open' : 'done', title: `Mend gate ${n}` }] as const;
  });
  await db.putMany(rows);
  await db.put('photo', crypto.getRandomValues(new Uint8Array(20_000)));
  const draft = await db.branches.open('draft');
  await draft.put(keyOf(3), { n: 3, state: 'closed', title: 'Mend gate 3' });
  await draft.delete(keyOf(4));
  await draft.put('note', 'a draft');
  await draft.close();
  // Some of it is dead.
  for (let n = 0; n < 40; n++) await db.put(keyOf(50 * n), { n, state: 'done', title: 'Again' });
  return db;
}

/** Makes a store whose list is higher than an element may be. */
async function makeLong(count: number): Promise<void> {
  const db = await open('long');
  await db.putMany(Array.from({ length: count }, (_, n) => [keyOf(n), n] as const));
  await db.close();
}

window.inspected = { href: page.href, make, makeLong, trace };

declare global {
  interface Window {
    inspected: {
      readonly href: string;
      make(): Promise<Store>;
      makeLong(count: number): Promise<void>;
      trace(db: Store): Trace;
    };
    inspectedStore: Store;
  }
}

/** The page of an extension, whose background has the store; bundled by `lib/extension.mjs`. */
import { connect } from 'hedgerow/worker';
import type { IssueTables } from './remote-issues.js';

declare global {
  interface Window {
    /** Runs a load and a query. Returns their results. */
    inExtension(rows: number): Promise<unknown>;
  }
}

window.inExtension = async (rows) => {
  const { active } = await navigator.serviceWorker.ready;
  const db = await connect<IssueTables>(active as ServiceWorker);
  const status = (n: number) => (n % 2 === 0 ? 'open' : 'closed');
  const made = (n: number) => ({ id: `i${n}`, title: `T${n}`, status: status(n), modified: n });
  await db.issues.putMany(Array.from({ length: rows }, (_, n) => made(n)));
  const newest = await db.issues.where({ status: 'open' }).orderBy('modified', 'desc').first();
  return [await db.issues.count(), newest?.id];
};

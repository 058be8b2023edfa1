/** The page of `tests/worker.spec.ts`: makes a worker load a store, and reads that store itself. */
import { open } from 'hedgerow';
import type { Answer } from './worker-store.js';

declare global {
  interface Window {
    /**
     * Returns the report of a worker of this page on a store that it has loaded; rejects with the worker's uncaught
     * error.
     */
    inWorker(name: string, rows: number): Promise<Answer>;
    /** Returns what this page reads in the store. */
    inPage(name: string): Promise<{ readonly root: string; readonly rows: number }>;
  }
}

window.inWorker = (name, rows) =>
  new Promise((resolve, reject) => {
    const worker = new Worker(new URL('./worker-store.ts', import.meta.url), { type: 'module' });
    worker.onmessage = ({ data }: MessageEvent<Answer>) => {
      worker.terminate();
      resolve(data);
    };
    worker.onerror = ({ message }) => reject(new Error(message));
    worker.postMessage({ name, rows });
  });

window.inPage = async (name) => {
  const db = await open(name, { advanced: { mustExist: true } });
  const rows = await db.count();
  await db.close();
  return { root: db.root, rows };
};

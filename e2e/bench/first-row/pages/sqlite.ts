import type { Row } from '../../page/rows.js';
import { show } from './show.js';

const worker = new Worker(new URL('./sqlite-worker.ts', import.meta.url), { type: 'module' });
// A page that the browser keeps for the way back would keep the file, too, and no other page could open it.
addEventListener('pagehide', () => worker.terminate());

/** Sends a call; resolves to the answer. */
function call<T>(name: 'fill' | 'first' | 'write', argument: unknown): Promise<T> {
  return new Promise((resolve, reject) => {
    worker.onmessage = ({ data }: MessageEvent<{ result?: T; error?: string }>) => {
      if (data.error === undefined) resolve(data.result as T);
      else reject(new Error(data.error));
    };
    worker.onerror = ({ message }) => reject(new Error(message));
    worker.postMessage({ name, argument });
  });
}

show({
  fill: (rows) => call('fill', rows),
  first: async (id) => {
    const text = await call<string | undefined>('first', id);
    return text === undefined ? undefined : (JSON.parse(text) as Row);
  },
  write: (row) => call('write', row),
});

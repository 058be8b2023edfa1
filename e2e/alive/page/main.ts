/** The functions that `run.mjs` and `tests/alive.spec.ts` call in the page. */
import { rowsInTurn } from '../../bench/page/rows.js';
import { type Load, withLoad } from './loads.js';
import { pause, watched } from './probes.js';
import { readWhileLoading } from './reads.js';

const calls = {
  /** Watches an idle page. */
  idle: async (ms: number) => (await watched(() => pause(ms))).seen,

  /** Watches a load of rows. */
  load: async (load: Load) => {
    const { watched: saw, loaded } = await withLoad(load, watched);
    return { ms: saw.ms, seen: saw.seen, loaded };
  },

  /** Times a load while the page does no other work. */
  time: async (load: Load): Promise<number> => {
    const { watched: ms } = await withLoad(load, async (run) => {
      await pause(200);
      const startMs = performance.now();
      await run();
      return performance.now() - startMs;
    });
    return ms;
  },

  /** Times making the rows alone. */
  timeSource: (rows: number): number => {
    const startMs = performance.now();
    let length = 0;
    for (const row of rowsInTurn(rows)) length += row.title.length;
    if (length === 0) throw new Error('no rows');
    return performance.now() - startMs;
  },

  /** Whether the page is hidden: by its own word, by its frames and by its timers. */
  visibility: async (ms: number) => {
    const state = document.visibilityState;
    let frames = 0;
    let timers = 0;
    const frame = () => {
      frames += 1;
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
    const timer = setInterval(() => {
      timers += 1;
    }, 10);
    const endMs = performance.now() + ms;
    while (performance.now() < endMs) await message();
    clearInterval(timer);
    return { state, frames, timers };
  },

  readWhileLoading,
};

/** Resolves a task later; a hidden page does not delay it. */
function message(): Promise<void> {
  const { port1, port2 } = new MessageChannel();
  return new Promise((resolve) => {
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(0);
  });
}

declare global {
  var alive: Calls;
}
type Calls = typeof calls;

globalThis.alive = calls;

/** How much memory a load takes, in samples of its own: to measure it stops the page. */
import type { Samples, Setting, Suite } from '../bench-case.js';
import { settle } from '../measure.js';
import { type Peer, RELAXED, within } from '../peers/database.js';
import { makeRows } from '../rows.js';
import { everyone } from './contestants.js';

const EVERY_MS = 50;

declare global {
  interface Performance {
    measureUserAgentSpecificMemory?(): Promise<{ bytes: number }>;
  }
}

async function memoryMiB(): Promise<number> {
  if (performance.measureUserAgentSpecificMemory === undefined) {
    throw new Error('this browser does not tell how much memory a page takes');
  }
  return (await performance.measureUserAgentSpecificMemory()).bytes / 2 ** 20;
}

async function memory(peer: Peer, setting: Setting): Promise<Samples> {
  const rows = makeRows(setting.rows);
  return within(peer, RELAXED, async (db): Promise<Samples> => {
    await settle();
    const before = await memoryMiB();
    let peak = before;
    let isLoading = true;
    const watching = (async () => {
      while (isLoading) {
        peak = Math.max(peak, await memoryMiB());
        await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
      }
    })();
    await db.load(rows);
    await db.persisted?.();
    isLoading = false;
    await watching;
    await settle();
    const after = await memoryMiB();
    return {
      memory: {
        value: Math.max(peak, after) - before,
        details: { 'kept after the load, MiB': after - before, 'the rows and page, MiB': before },
      },
    };
  });
}

export const MEMORY: Suite = {
  name: 'memory',
  cases: [
    {
      name: 'memory',
      title: 'most memory of page and workers during the load, beyond the rows themselves',
      unit: 'MiB',
    },
  ],
  contestants: everyone([memory]),
};

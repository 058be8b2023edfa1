/** Measures the memory of a load in separate samples: other work in the page would count. */
import type { Samples, Setting, Suite } from '../bench-case.js';
import { settle } from '../measure.js';
import { type Peer, RELAXED, within } from '../peers/database.js';
import { makeRows } from '../rows.js';
import { everyone } from './contestants.js';

declare global {
  /** Returns MiB of the renderer processes now, or their peak; null where the system has no such figure. */
  var processMemory: ((action: 'reset' | 'peak') => Promise<number | null>) | undefined;

  interface Performance {
    measureUserAgentSpecificMemory?(): Promise<{ bytes: number }>;
  }
}

/** Measures the JavaScript memory of page and workers, without WebAssembly. */
async function javaScriptMiB(): Promise<number> {
  const measured = await performance.measureUserAgentSpecificMemory?.();
  return (measured?.bytes ?? Number.NaN) / 2 ** 20;
}

async function memory(peer: Peer, setting: Setting): Promise<Samples> {
  const { processMemory } = globalThis;
  if (processMemory === undefined) return {};
  const rows = makeRows(setting.rows);
  return within(peer, RELAXED, async (db): Promise<Samples> => {
    await settle();
    const javaScript = await javaScriptMiB();
    await settle();
    const before = await processMemory('reset');
    await db.load(rows);
    await db.persisted?.();
    const peak = await processMemory('peak');
    await settle();
    const kept = (await javaScriptMiB()) - javaScript;
    if (before === null || peak === null) return {};
    return {
      memory: {
        value: peak - before,
        details: { 'before the load, MiB': before, 'JavaScript kept after it, MiB': kept },
      },
    };
  });
}

export const MEMORY: Suite = {
  name: 'memory',
  cases: [
    {
      name: 'memory',
      title: 'most memory of the page and its workers during the load, beyond what they had before',
      unit: 'MiB',
    },
  ],
  contestants: everyone([memory]),
};

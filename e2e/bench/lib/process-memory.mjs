// How much memory the browser's renderer processes have, by the system: what the page can ask for
// leaves WebAssembly out. Only Linux tells of a peak that can be set back.

import { readFile, writeFile } from 'node:fs/promises';

/** For `page/cases/memory.ts`: `reset` sets the peak back, and both tell MiB, or null. */
export async function processMemory(context, action) {
  const browser = context.browser();
  if (process.platform !== 'linux' || browser === null) return null;
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  await session.detach();
  // All renderers: those that stand ready for other pages do nothing in between.
  const ids = processInfo.filter(({ type }) => type === 'renderer').map(({ id }) => id);
  let sum = 0;
  for (const id of ids) {
    try {
      // 5: the peak of the resident set begins anew, see proc(5).
      if (action === 'reset') await writeFile(`/proc/${id}/clear_refs`, '5');
      const status = await readFile(`/proc/${id}/status`, 'utf8');
      const name = action === 'reset' ? 'VmRSS' : 'VmHWM';
      sum += Number(status.match(new RegExp(`${name}:\\s+(\\d+) kB`))?.[1]) / 1024;
    } catch {
      return null; // not ours to read, or gone
    }
  }
  return sum;
}

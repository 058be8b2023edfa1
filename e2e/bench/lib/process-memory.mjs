// Asks the system for the memory of the browser's renderer processes: the page's own figures leave WebAssembly out.
// Only Linux has a peak that can be reset.

import { readFile, writeFile } from 'node:fs/promises';

/** For `page/cases/memory.ts`: `reset` resets the peak, and both actions return MiB, or null. */
export async function processMemory(context, action) {
  const browser = context.browser();
  if (process.platform !== 'linux' || browser === null) return null;
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  await session.detach();
  // All renderers: spare ones for other pages idle in between.
  const ids = processInfo.filter(({ type }) => type === 'renderer').map(({ id }) => id);
  let sum = 0;
  for (const id of ids) {
    try {
      // 5: the peak of the resident set starts again, see proc(5).
      if (action === 'reset') await writeFile(`/proc/${id}/clear_refs`, '5');
      const status = await readFile(`/proc/${id}/status`, 'utf8');
      const name = action === 'reset' ? 'VmRSS' : 'VmHWM';
      sum += Number(status.match(new RegExp(`${name}:\\s+(\\d+) kB`))?.[1]) / 1024;
    } catch {
      return null; // unreadable for us, or gone
    }
  }
  return sum;
}

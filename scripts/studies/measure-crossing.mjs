// Measures how long a page is busy with rows that a worker sends: as structured clones, as JSON text, and as its bytes.
// For docs/decisions.md. `node scripts/studies/measure-crossing.mjs`

import { chromium } from '@playwright/test';
import { findBrowser } from '../lib/browser.mjs';
import { runMain } from '../lib/run.mjs';

const ROWS = 100_000;
const ROUNDS = 9;

/** The code of the worker: it sends parts, at most four ahead. */
function workerMain() {
  const rows = Array.from({ length: 100_000 }, (_, n) => ({
    id: `i${n}`,
    title: `Issue number ${n} with some text`,
    status: n % 3 ? 'open' : 'closed',
    modified: 1_754_000_000 + n,
    tags: ['a', 'b'],
    body: 'Lorem ipsum dolor sit amet',
  }));
  const encoder = new TextEncoder();
  let ahead = 0;
  let wake = () => {};
  const send = async ({ how, size }) => {
    for (let at = 0; at < rows.length; at += size) {
      const part = rows.slice(at, at + size);
      if (how === 'clone') postMessage(part);
      else if (how === 'text') postMessage(JSON.stringify(part));
      else {
        const { buffer } = encoder.encode(JSON.stringify(part));
        postMessage(buffer, [buffer]);
      }
      ahead += 1;
      while (ahead >= 4) {
        await new Promise((resolve) => {
          wake = resolve;
        });
      }
    }
    postMessage('end');
  };
  addEventListener('message', ({ data }) => {
    if (data !== 'taken') return void send(data);
    ahead -= 1;
    wake();
  });
}

/** Runs in the page: takes all rows, and returns how long it was busy, and its longest task. */
async function take({ code, how, size }) {
  const worker = new Worker(URL.createObjectURL(new Blob([code])));
  const decoder = new TextDecoder();
  const rows = [];
  let [busyMs, longestMs] = [0, 0];
  await new Promise((resolve) => {
    worker.onmessage = (event) => {
      const startMs = performance.now();
      // Read in the task, as by an app.
      const { data } = event;
      if (data === 'end') return resolve();
      const text = how === 'bytes' ? decoder.decode(data) : data;
      for (const row of how === 'clone' ? data : JSON.parse(text)) rows.push(row);
      worker.postMessage('taken');
      const ms = performance.now() - startMs;
      busyMs += ms;
      longestMs = Math.max(longestMs, ms);
    };
    worker.postMessage({ how, size });
  });
  worker.terminate();
  return { rows: rows.length, busyMs, longestMs };
}

await runMain(async () => {
  const browser = await chromium.launch({
    executablePath: findBrowser(),
    args: ['--no-sandbox'],
  });
  try {
    const page = await browser.newPage();
    for (const size of [256, 1024]) {
      for (const how of ['clone', 'text', 'bytes']) {
        const found = [];
        for (let round = 0; round < ROUNDS; round++) {
          found.push(await page.evaluate(take, { code: `(${workerMain})()`, how, size }));
        }
        if (found.some(({ rows }) => rows !== ROWS)) throw new Error('rows are missing');
        const least = (name) => Math.min(...found.map((one) => one[name])).toFixed(1);
        console.log(
          `${how.padEnd(6)} ${String(size).padStart(5)} rows a part: busy ${least('busyMs')} ms, longest task ${least('longestMs')} ms`,
        );
      }
    }
  } finally {
    await browser.close();
  }
});

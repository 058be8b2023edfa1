// Crashes the renderer at random moments, by the DevTools protocol. The browser lives on: a new page checks and writes
// on, another one checks again.

import { pause, within } from '../../lib/engines/limits.mjs';
import { call, Reports, visit } from './driver.mjs';
import { phasesFor, planOf, Tally } from './killing.mjs';
import { withProfiles } from './profiles.mjs';
import { randomFrom } from './random.mjs';

const MOST_MS = 60_000;

/** Crashes `cycles` pages of one Chromium; `show` gets the progress. */
export function crashPages(engine, options) {
  return withProfiles(engine, (profiles) => crashIn({ engine, profiles, ...options }));
}

async function crashIn({ engine, origin, profiles, cycles, seed, rows, durability, show }) {
  const random = randomFrom(seed);
  const browser = await engine.launch(await profiles.make());
  const tally = new Tally(browser);
  try {
    const phases = phasesFor(await withPage(browser, origin, (page) => call(page, 'canCollect')));
    for (let cycle = 0; cycle < cycles; cycle++) {
      const next = planOf(cycle, { random, phases, rows, durability });
      show?.(`${next.name} of ${cycles}; lost ${tally.lost.hedgerow}`);
      await crashOnce(next, browser, origin, tally).catch((cause) => {
        tally.failed(next.name, cause);
      });
    }
    await browser.close();
  } finally {
    await browser.kill();
  }
  return tally;
}

async function crashOnce({ name, plan, delayMs }, browser, origin, tally) {
  const reports = new Reports();
  const write = async (page) => {
    const started = call(page, 'startWriting', plan);
    await within(MOST_MS, 'the first commits', Promise.race([reports.ready, started]));
    await pause(delayMs);
    await page.crash();
  };
  await withPage(browser, origin, write, reports);
  const { acknowledged, failures } = reports;
  tally.killed(plan, reports);
  for (const failure of failures) tally.failed(name, failure);
  const check = (atLeast, writes) =>
    withPage(browser, origin, async (page) => {
      const checked = await call(page, 'check', plan, atLeast, writes);
      checked.problems.push(...(await page.uncaught()));
      return checked;
    });
  const second = await check(acknowledged, true);
  tally.found(`${name}, second page`, acknowledged, second);
  if (second.hasDebris) tally.debris += 1;
  const third = await check(second.after, false);
  tally.found(`${name}, third page`, second.after, third);
  if (third.root !== second.root) tally.failed(name, 'the third root is another');
  await withPage(browser, origin, (page) => call(page, 'remove', plan));
}

async function withPage(browser, origin, work, reports) {
  const page = await browser.newPage();
  try {
    return await work(await visit(page, origin, reports));
  } finally {
    await within(MOST_MS, 'the end of a page', page.close()).catch(() => {});
  }
}

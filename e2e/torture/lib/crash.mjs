// The renderer crashes at random moments, by the DevTools protocol. The browser lives on: a new
// page checks and writes on, another one checks again.

import { pause, within } from '../../lib/engines/limits.mjs';
import { Chromium } from './chromium.mjs';
import { call, Reports, visit } from './driver.mjs';
import { phasesFor, planOf, Tally } from './killing.mjs';
import { randomFrom } from './random.mjs';

const MOST_MS = 60_000;

/** Crashes `cycles` pages of one browser; `show` is told how far it is. */
export async function crashPages(options) {
  const { origin, profiles, cycles, seed, rows, durability, show } = options;
  const random = randomFrom(seed);
  const tally = new Tally();
  const profileDir = await profiles.make();
  const browser = await Chromium.launch(profileDir);
  try {
    const { page } = await visit(browser.page, origin);
    const phases = phasesFor(await call(page, 'canCollect'));
    for (let cycle = 0; cycle < cycles; cycle++) {
      const next = planOf(cycle, { random, phases, rows, durability });
      show?.(`${next.name} of ${cycles}; lost ${tally.lost.hedgerow}`);
      await crashOnce(next, browser.context, origin, tally).catch((cause) => {
        tally.failed(next.name, cause);
      });
    }
    await browser.close();
  } finally {
    await browser.kill();
    await profiles.remove(profileDir);
  }
  return tally;
}

async function crashOnce({ name, plan, delayMs }, context, origin, tally) {
  const reports = new Reports();
  await withPage(context, origin, reports, async ({ page, session }) => {
    const started = call(page, 'startWriting', plan);
    await within(MOST_MS, 'the first commits', Promise.race([reports.ready, started]));
    await pause(delayMs);
    const crashed = page.waitForEvent('crash', { timeout: MOST_MS });
    // It never answers.
    session.send('Page.crash').catch(() => {});
    await crashed;
  });
  const { acknowledged, failures } = reports;
  tally.killed(plan, reports);
  for (const failure of failures) tally.failed(name, failure);
  const check = (atLeast, writes) =>
    withPage(context, origin, undefined, async ({ page, errors }) => {
      const checked = await call(page, 'check', plan, atLeast, writes);
      checked.problems.push(...errors);
      return checked;
    });
  const second = await check(acknowledged, true);
  tally.found(`${name}, second page`, acknowledged, second);
  if (second.hasDebris) tally.debris += 1;
  const third = await check(second.after, false);
  tally.found(`${name}, third page`, second.after, third);
  if (third.root !== second.root) tally.failed(name, 'the third root is another');
  await withPage(context, origin, undefined, ({ page }) => call(page, 'remove', plan));
}

async function withPage(context, origin, reports, work) {
  const page = await context.newPage();
  try {
    return await work(await visit(page, origin, reports));
  } finally {
    await within(MOST_MS, 'the end of a page', page.close()).catch(() => {});
  }
}

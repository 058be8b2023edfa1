// `kill -9` of the whole browser at random moments. Three launches a cycle: the first is killed,
// the second checks, writes on and is closed, the third checks again.

import { pause, within } from '../../lib/engines/limits.mjs';
import { Chromium } from './chromium.mjs';
import { call, Reports, visit } from './driver.mjs';
import { phasesFor, planOf, Tally } from './killing.mjs';
import { randomFrom } from './random.mjs';

const READY_MS = 60_000;

/** Runs `cycles` cycles, `atOnce` of them at a time; `show` is told how far it is. */
export async function killBrowsers(options) {
  const { origin, profiles, cycles, seed, rows, durability, atOnce = 2, show } = options;
  const random = randomFrom(seed);
  const profileDir = await profiles.make();
  const isCollecting = await withChromium(profileDir, origin, ({ page }) =>
    call(page, 'canCollect'),
  );
  const phases = phasesFor(isCollecting);
  const plans = Array.from({ length: cycles }, (_, cycle) =>
    planOf(cycle, { random, phases, rows, durability }),
  );
  const tally = new Tally();
  const work = async () => {
    for (let next = plans.shift(); next !== undefined; next = plans.shift()) {
      const { lost } = tally;
      show?.(`${next.name} of ${cycles}; lost ${lost.hedgerow}, control ${lost.control}`);
      await killOnce(next, { origin, profiles, tally });
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return tally;
}

async function killOnce({ name, plan, delayMs }, { origin, profiles, tally }) {
  const profileDir = await profiles.make();
  const checkAfter = (acknowledged, writes) =>
    withChromium(profileDir, origin, ({ page }) => call(page, 'check', plan, acknowledged, writes));
  try {
    const reports = await writeAndKill(profileDir, origin, plan, delayMs);
    const { acknowledged, failures } = reports;
    tally.killed(plan, reports);
    for (const failure of failures) tally.failed(name, failure);

    const second = await checkAfter(acknowledged, true);
    tally.found(`${name}, second launch`, acknowledged, second);
    if (second.hasDebris) tally.debris += 1;

    const third = await checkAfter(second.after, false);
    tally.found(`${name}, third launch`, second.after, third);
    const isWiped = tally.wiped.at(-1)?.startsWith(`${name}, third`);
    if (!isWiped && third.root !== second.root) tally.failed(name, 'the third root is another');
  } catch (cause) {
    tally.failed(name, cause);
  }
  await profiles.remove(profileDir);
}

async function writeAndKill(profileDir, origin, plan, delayMs) {
  const browser = await Chromium.launch(profileDir);
  try {
    const reports = new Reports();
    const { page } = await visit(browser.page, origin, reports);
    // It does not end: the page writes until it is gone.
    const started = call(page, 'startWriting', plan);
    await within(READY_MS, 'the first commits', Promise.race([reports.ready, started]));
    await pause(delayMs);
    browser.signal();
    return reports;
  } finally {
    await browser.kill();
  }
}

/** Runs `work` with a page of a browser on the profile, which is closed in the end. */
async function withChromium(profileDir, origin, work) {
  const browser = await Chromium.launch(profileDir);
  try {
    const visited = await visit(browser.page, origin);
    const result = await work(visited);
    if (visited.errors.length > 0) result.problems?.push(...visited.errors);
    await browser.close();
    return result;
  } finally {
    await browser.kill();
  }
}

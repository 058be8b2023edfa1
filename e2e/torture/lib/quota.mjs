// Fills the disk at 20 places of a workload, each in its own origin: Chromium remembers the available room for a while.

import { call, visit } from './driver.mjs';
import { withProfiles } from './profiles.mjs';

/** Runs the workload once with all the room there is, then with `points` different quotas. */
export function fillDisks(engine, options) {
  return withProfiles(engine, async (profiles) => {
    const browser = await engine.launch(await profiles.make());
    try {
      const found = await fillIn(browser, options);
      await browser.close();
      return { engine: engine.name, version: browser.version, ...found };
    } finally {
      await browser.kill();
    }
  });
}

async function fillIn(browser, { origin, points, show }) {
  const found = { points: 0, roomy: 0, failedIn: {}, places: new Set(), problems: [] };
  const whole = await fillOnce(browser, hostOf(origin, 0), undefined);
  found.problems.push(...whole.problems.map((problem) => `all the room: ${problem}`));
  for (let point = 1; point <= points; point++) {
    const quotaSize = Math.round((whole.usage * point) / (points + 1));
    const name = `quota of ${quotaSize} bytes`;
    show?.(`${name}, ${point} of ${points}`);
    try {
      const one = await fillOnce(browser, hostOf(origin, point), quotaSize);
      found.points += 1;
      found.problems.push(...one.problems.map((problem) => `${name}: ${problem}`));
      if (one.root !== whole.root) found.problems.push(`${name}: another root in the end`);
      for (const { kind, step } of one.failures) {
        found.failedIn[kind] = (found.failedIn[kind] ?? 0) + 1;
        found.places.add(step);
      }
      // The most that the workload takes depends on when space is collected in between.
      if (one.failures.length === 0) found.roomy += 1;
    } catch (cause) {
      found.problems.push(`${name}: ${cause.message}`);
    }
  }
  return { ...found, places: found.places.size };
}

const hostOf = (origin, point) => {
  const url = new URL(origin);
  url.hostname = `quota-${point}.localhost`;
  return url.href;
};

async function fillOnce(browser, url, quotaSize) {
  const page = await browser.newPage();
  try {
    // Before the first write.
    if (quotaSize !== undefined) await page.limit(url, quotaSize);
    await visit(page, url);
    const first = await call(page, 'fill');
    const failures = first.failed === undefined ? [] : [first.failed];
    let last = first;
    if (first.failed !== undefined) {
      await page.limit(url, undefined);
      last = await call(page, 'fill');
      if (last.failed !== undefined) last.problems.push('no room after the quota was lifted');
    }
    const uncaught = await page.uncaught();
    const problems = [...first.problems, ...(last === first ? [] : last.problems), ...uncaught];
    return { failures, problems, root: last.root, usage: last.usage };
  } finally {
    await page.close();
  }
}

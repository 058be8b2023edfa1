// Runs the suites: contestants take turns in every round, and each act has its own page.

import { summarize } from './figures.mjs';
import { Profiler } from './profile.mjs';

/** Sizes of the curve, up to `--rows`. */
const SIZES = [1000, 10_000, 100_000, 1_000_000];
/** Jobs that are drawn over the number of rows. */
const GROWING = ['load', 'open', 'get', 'scan', 'put'];
const WARM_UP_ROWS = 2000;
/** Cases to whose samples the runner adds the size of the profile's files. */
const DISK = ['disk', 'disk-after'];

/** Runs what `options` names, and returns the results of the cases and the curve. */
export async function runSuites(browser, options, progress) {
  const all = await browser.call('describe');
  const plan = planOf(all, options);
  const outcome = { cases: [], growth: [] };
  for (const [at, { suite, setting, growing }] of plan.entries()) {
    const rows = setting.rows.toLocaleString('en');
    const label = `${at + 1} of ${plan.length}, ${suite.name} of ${rows} rows`;
    const show = (text) => progress.show(`${label}: ${text}`);
    const results = await runSuite(browser, suite, setting, options, show);
    if (growing) outcome.growth.push({ rows: setting.rows, cases: results });
    else outcome.cases.push(...results);
  }
  // If all cases ran, the largest size of the curve has been measured already.
  if (
    outcome.growth.length > 0 &&
    !plan.some(({ growing, setting }) => growing && setting.rows === options.rows)
  ) {
    const cases = outcome.cases.filter(({ name }) => GROWING.includes(name));
    outcome.growth.push({ rows: options.rows, cases });
  }
  return outcome;
}

function planOf(all, { only, rows, quick }) {
  const names = all.flatMap(({ name, cases }) => [name, ...cases.map((one) => one.name)]);
  const unknown = only?.filter((name) => name !== 'growth' && !names.includes(name)) ?? [];
  if (unknown.length > 0) {
    throw new Error(
      `no case ${unknown.join(', ')}; there are growth, ${[...new Set(names)].join(', ')}`,
    );
  }
  const chosen = (suite, name) =>
    only === null || [suite.name, suite.family, name].some((one) => only.includes(one));
  const plan = [];
  for (const suite of all) {
    const cases = suite.cases.map(({ name }) => name).filter((name) => chosen(suite, name));
    const most = Math.min(rows, suite.mostRows ?? rows);
    if (cases.length > 0)
      plan.push({ suite, setting: { rows: most, quick, cases }, growing: false });
  }
  if (only !== null && !only.includes('growth')) return plan;
  const life = all.find(({ name }) => name === 'life');
  const measured = plan.find(({ suite }) => suite === life)?.setting.cases ?? [];
  const isMeasured = GROWING.every((name) => measured.includes(name));
  for (const size of SIZES.filter((size) => size < rows || (size === rows && !isMeasured))) {
    const setting = { rows: size, quick: true, cases: GROWING };
    plan.push({ suite: life, setting, growing: true });
  }
  return plan;
}

async function runSuite(browser, suite, setting, options, show) {
  const wanted = suite.cases.filter(({ name }) => setting.cases.includes(name));
  const taking = suite.contestants.filter(
    ({ most, missing, cannot = {} }) =>
      missing === undefined &&
      setting.rows <= (most?.rows ?? Number.POSITIVE_INFINITY) &&
      wanted.some(({ name }) => cannot[name] === undefined),
  );
  const rounds = [];
  const failures = new Map();
  // Round 0 warms up the disk, the browser's processes and its caches of compiled code. A few rows are enough.
  const warmUp = { ...setting, rows: Math.min(setting.rows, WARM_UP_ROWS), quick: true };
  for (let round = options.quick ? 1 : 0; round <= options.rounds; round++) {
    const taken = new Map();
    for (const contestant of inTurn(taking, round)) {
      const { name } = contestant;
      if (failures.has(name)) continue;
      show(
        `${round === 0 ? 'warming up' : `round ${round} of ${options.rounds}`}, ${name.replaceAll(',', '')}`,
      );
      try {
        const used = round === 0 ? warmUp : setting;
        taken.set(name, await runActs(browser, suite, contestant, used));
      } catch (error) {
        failures.set(name, `${error.message.split('\n')[0]} (round ${round})`);
      }
      await browser.clear();
    }
    if (round > 0) rounds.push(taken);
  }
  const profile = options.profile ? await profileOurs(browser, suite, setting, show) : undefined;
  const results = wanted.map((one) => summarize(one, suite.contestants, rounds, failures, setting));
  if (profile !== undefined && results[0] !== undefined) results[0].profile = profile;
  return results;
}

/** Runs all pages of one contestant, on one database. */
async function runActs(browser, suite, { name, acts }, setting) {
  const taken = {};
  const beforeMiB = await browser.storedMiB();
  for (let at = 0; at < acts; at++) {
    await browser.visit(name);
    const samples = await browser.call('act', suite.name, name, at, setting);
    for (const disk of DISK) {
      const sample = samples[disk];
      if (sample === undefined) continue;
      const filesMiB = (await browser.storedMiB()) - beforeMiB;
      const value = Number.isNaN(sample.value) ? filesMiB : sample.value;
      samples[disk] = { value, details: { 'files of the profile, MiB': filesMiB } };
    }
    Object.assign(taken, samples);
  }
  return taken;
}

/**
 * Rotates the order in each round and reverses it in every other, so that no contestant always follows the same one.
 */
function inTurn(contestants, round) {
  const from = round % contestants.length;
  const turned = [...contestants.slice(from), ...contestants.slice(0, from)];
  return round % 2 === 0 ? turned : turned.reverse();
}

async function profileOurs(browser, suite, setting, show) {
  show('CPU profile');
  const ours = suite.contestants.find(({ kind }) => kind === 'ours');
  const profiler = await Profiler.attach(browser);
  for (let at = 0; at < ours.acts; at++) {
    await browser.visit(ours.name);
    await browser.call('act', suite.name, ours.name, at, setting);
  }
  await profiler.detach();
  await browser.clear();
  return profiler.summary();
}

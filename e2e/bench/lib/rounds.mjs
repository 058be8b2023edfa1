// Runs the cases: contestants take turns in every round, and each has a page of its own.

import { summarize } from './figures.mjs';
import { Profiler } from './profile.mjs';

/** Runs the cases that `options` names and returns what they came to. */
export async function runCases(browser, options, progress) {
  const all = await browser.call('describe');
  const unknown = options.only?.filter((name) => !all.some((one) => one.name === name)) ?? [];
  if (unknown.length > 0) {
    const names = all.map(({ name }) => name).join(', ');
    throw new Error(`no case ${unknown.join(', ')}; there are ${names}`);
  }
  const chosen = all.filter(({ name }) => options.only?.includes(name) ?? true);
  const results = [];
  for (const [at, one] of chosen.entries()) {
    const label = `case ${at + 1} of ${chosen.length}, ${one.name}`;
    const show = (text) => progress.show(`${label}: ${text}`);
    results.push(await runCase(browser, one, options, show).catch((error) => failed(one, error)));
  }
  return results;
}

/** A case that went wrong ends there; the others still run. */
function failed({ name, title, unit }, error) {
  const cause = error.cause instanceof Error ? `: ${error.cause.message}` : '';
  return { name, title, unit, error: `${error.message}${cause}` };
}

async function runCase(browser, one, options, show) {
  const setting = { rows: options.rows, quick: options.quick };
  const samples = new Map(one.contestants.map(({ name }) => [name, []]));
  if (one.stored) {
    for (const { name } of one.contestants) {
      show(`filling ${name}`);
      await browser.reload();
      await browser.call('prepare', one.name, name, setting);
    }
  }
  // Round 0 warms up: the disk, the browser's processes and its caches of compiled code.
  for (let round = 0; round <= options.rounds; round++) {
    for (const { name } of inTurn(one.contestants, round)) {
      show(round === 0 ? `warming up ${name}` : `round ${round} of ${options.rounds}, ${name}`);
      await browser.reload();
      const sample = await browser.call('sample', one.name, name, setting).catch((cause) => {
        throw new Error(`${one.name}, ${name}, round ${round}`, { cause });
      });
      if (!one.stored) await browser.call('clear');
      if (round > 0) samples.get(name).push(sample);
    }
  }
  const profile = options.profile ? await profileOurs(browser, one, setting, show) : undefined;
  return summarize(one, samples, profile);
}

/** Rotated in each round and reversed in every other: nobody always follows the same one. */
function inTurn(contestants, round) {
  const from = round % contestants.length;
  const turned = [...contestants.slice(from), ...contestants.slice(0, from)];
  return round % 2 === 0 ? turned : turned.reverse();
}

async function profileOurs(browser, one, setting, show) {
  show('CPU profile');
  await browser.reload();
  const profiler = await Profiler.attach(browser);
  const ours = one.contestants.find(({ kind }) => kind === 'ours');
  await browser.call('sample', one.name, ours.name, setting);
  await profiler.detach();
  if (!one.stored) await browser.call('clear');
  return profiler.summary();
}

/**
 * A tab is suspended in the middle of its work, in Chromium: the others go on within limits, and it is right when it
 * goes on itself. It is suspended in two ways: *frozen*, by the DevTools protocol, as a browser freezes a hidden page,
 * which gets an event first; and *stopped* by a debugger, without an event, as when a phone suspends the browser's
 * process.
 */
import { expect } from '@playwright/test';
import { within } from '../lib/engines/limits.mjs';
import type { RoleName, Took } from '../pages/suspended.js';
import { frozen, type TabOf, test } from './plain-tabs.js';

/**
 * The limit of each step, even on a busy machine: less than the minute after which Chromium itself would end the wait.
 */
const LIMITS_MS: Took = { collect: 40_000, index: 30_000, sum: 30_000 };
const LIMIT_MS = 25_000;
/** Chromium aborts an IndexedDB transaction that blocks others and is idle for 60 seconds. */
const BROWSERS_LIMIT_MS = 75_000;

const ROLES: readonly RoleName[] = [
  'index builder',
  'sum follower',
  'collector',
  'ballast maker',
  'queue holder',
  'snapshot holder',
  'loader',
  'reader',
];

/** The time until a tab stops. */
const STOP_MS = 60_000;
/** The time for all work of a tab next to a suspended one. */
const GO_ON_MS = 130_000;

// Each test has its own browser, and mostly waits.
test.describe.configure({ mode: 'parallel' });

/** Suspends a tab in a role, lets another one go on, and then resumes it. */
async function suspend(
  tab: TabOf,
  way: 'frozen' | 'stopped' | 'stopped inside',
  role: RoleName,
  limitMs: number,
): Promise<void> {
  const name = `${way}/${role}`;
  const a = await tab('suspended', 'suspended');
  await a.evaluate((name) => window.suspended.make(name), name);
  const b = await tab('suspended', 'suspended');
  // The collecting tab is suspended, unless the role needs another one.
  const isFirst = role !== 'snapshot holder' && role !== 'reader' && role !== 'queue holder';
  const isDebugged = way !== 'frozen';
  const session = await a.context().newCDPSession(a);
  const begin = () =>
    a.evaluate(
      ([name, role, isDebugged, isInside]) =>
        window.suspended.begin(name, role, isDebugged, isInside),
      [name, role, isDebugged, way === 'stopped inside'] as const,
    );
  const openB = () =>
    b.evaluate(([name, role]) => window.suspended.open(name, role), [name, role] as const);
  const paused = new Promise<void>((resolve) => {
    session.once('Debugger.paused', () => resolve());
  });
  if (isDebugged) await session.send('Debugger.enable');
  if (!isFirst) await openB();
  const began = begin();
  began.catch(() => {});
  if (role === 'queue holder') void b.evaluate(() => window.suspended.meet(300)).catch(() => {});
  if (isDebugged) await within(STOP_MS, 'the stop', paused);
  else {
    await began;
    await b.bringToFront();
    await frozen(session, true);
  }
  const startMs = performance.now();
  if (isFirst) await openB();
  expect(performance.now() - startMs, 'opening').toBeLessThan(limitMs);
  const longest = await b.evaluate(() => window.suspended.meet(20));
  expect(longest).toBeLessThan(limitMs);
  const going = b.evaluate((name) => window.suspended.goOn(name, 10), name);
  const took = await within(GO_ON_MS, 'going on', going).catch(async (cause) => {
    throw new Error(`it got as far as: ${await b.evaluate(() => window.suspended.step)}`, {
      cause,
    });
  });
  const waited = Math.round(performance.now() - startMs);
  console.log(`  ${way} ${role}: ${JSON.stringify({ ...took, 'all together': waited })}`);
  for (const [what, ms] of Object.entries(took)) {
    expect(ms, what).toBeLessThan(Math.max(LIMITS_MS[what] ?? 0, limitMs));
  }
  if (isDebugged) {
    await session.send('Debugger.resume');
    await session.send('Debugger.disable');
  } else await frozen(session, false);
  await began;
  expect(await a.evaluate(() => window.suspended.ends(10))).toEqual([]);
}

/** In these roles a debugger nearly always stops in a transaction: see the last test. */
const IN_TRANSACTIONS: readonly RoleName[] = ['queue holder', 'snapshot holder', 'reader'];

for (const way of ['frozen', 'stopped'] as const) {
  for (const role of ROLES) {
    if (way === 'stopped' && IN_TRANSACTIONS.includes(role)) continue;
    // Its moment is invisible from outside.
    if (way === 'frozen' && role === 'ballast maker') continue;
    test(`next to a ${way} ${role} all tabs go on, and it is right afterwards`, {
      tag: '@chromium',
    }, async ({ tab }) => {
      test.setTimeout(180_000);
      await suspend(tab, way, role, LIMIT_MS);
    });
  }
}

test('tabs wait for one that is stopped in a transaction until the browser ends the transaction', {
  tag: '@chromium',
}, async ({ tab }) => {
  test.setTimeout(300_000);
  await suspend(tab, 'stopped inside', 'collector', BROWSERS_LIMIT_MS);
});

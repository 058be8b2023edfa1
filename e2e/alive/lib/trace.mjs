// Reads the tasks of the page's thread from Chromium's own trace. Besides its length a task has the time that the
// thread worked in it: for the rest it waited, for the browser's process or because other programs had the cores. So
// even a busy machine shows what a load does to a page.

import { summary } from './figures.mjs';

const CATEGORIES = ['toplevel', 'devtools.timeline', 'v8', 'IndexedDB', 'blink'];
const TASK = 'ThreadControllerImpl::RunTask';
/** Shorter tasks do not matter, and there are very many. */
const MIN_TASK_MS = 1;
const LONGEST = 12;
/** The parts of tasks, where Chromium names them. */
const PARTS = {
  put: /^IDBObjectStore::putRequestSetup$/,
  copy: /^SerializedScriptValueFactory::create$/,
  'minor GC': /^MinorGC$/,
  'major GC': /^MajorGC$/,
  'marking step': /^V8\.GCIncrementalMarking/,
};

/** Traces loads without probes, and summarizes the tasks of each. */
export async function traceAll(browser, scenarios, show) {
  const results = [];
  for (const { name, load } of scenarios) {
    if (load === undefined) continue;
    show(`trace of ${name}`);
    await browser.visit('alive');
    const events = await traced(browser, () => browser.call('time', load));
    results.push({ name, ...tasksOf(events) });
  }
  return results;
}

async function traced({ context }, work) {
  const session = await context.browser().newBrowserCDPSession();
  const events = [];
  session.on('Tracing.dataCollected', ({ value }) => events.push(...value));
  await session.send('Tracing.start', {
    transferMode: 'ReportEvents',
    traceConfig: { recordMode: 'recordAsMuchAsPossible', includedCategories: CATEGORIES },
  });
  try {
    await work();
  } finally {
    const complete = new Promise((resolve) => session.once('Tracing.tracingComplete', resolve));
    await session.send('Tracing.end');
    await complete;
    await session.detach();
  }
  return events;
}

function tasksOf(events) {
  const own = threadOf(events);
  const tasks = own
    .filter(({ name, dur }) => name === TASK && dur >= 1000 * MIN_TASK_MS)
    .map(({ ts, dur, tdur = 0 }) => ({ ts, end: ts + dur, ms: dur / 1000, threadMs: tdur / 1000 }));
  const longest = (by) => [...tasks].sort((a, b) => b[by] - a[by]).slice(0, LONGEST);
  const described = (task) => ({
    ms: task.ms,
    threadMs: task.threadMs,
    parts: partsOf(own.filter(({ ts, dur }) => ts >= task.ts && ts + dur <= task.end)),
  });
  return {
    tasks: summary(tasks.map(({ ms }) => ms)),
    threadTimes: summary(tasks.map(({ threadMs }) => threadMs)),
    longest: longest('ms').map(described),
    longestThreadTimes: longest('threadMs').map(described),
  };
}

/** Returns the complete events of the page's thread: the one with the most messages. */
function threadOf(events) {
  const threads = grouped(events);
  const messages = (all) => all.filter(({ name }) => name === 'MessagePort::Accept').length;
  const [busiest] = [...threads.values()].sort((a, b) => messages(b) - messages(a));
  return busiest.filter(({ ph }) => ph === 'X');
}

function grouped(events) {
  const groups = new Map();
  for (const event of events) {
    const name = `${event.pid} ${event.tid}`;
    if (!groups.has(name)) groups.set(name, []);
    groups.get(name).push(event);
  }
  return groups;
}

function partsOf(events) {
  const parts = {};
  for (const [part, pattern] of Object.entries(PARTS)) {
    const all = events.filter(({ name }) => pattern.test(name));
    const sum = (of) => all.reduce((total, event) => total + (event[of] ?? 0), 0) / 1000;
    if (sum('dur') >= 0.5) parts[part] = { ms: sum('dur'), threadMs: sum('tdur') };
  }
  return parts;
}

// Checks the page of two devices for `headless.mjs`: clones, edits, pulled plugs, the merge, and a second browser. Node
// computes the expected roots: from the same rows in its own store, and from a store that clones from the server.

import { memory, open } from 'hedgerow';
import { bucket, httpRemote } from 'hedgerow/sync';
import { allTasks, TASKS, tasks } from './src/tasks.js';

const WAIT_MS = 60_000;

/** Ten rows are about 700 bytes. */
const MOST_TEN_BYTES = 1_500;

const TYPED = 'Listen to the dunnock';

/** A device, as its frame shows it. */
class Shown {
  /** The device `name` of the page. */
  constructor(page, name) {
    this.name = name;
    this.page = page;
    this.view = page.frameLocator(`#device-${name.toLowerCase()}`);
  }

  get #frame() {
    return this.page.frames().find((frame) => frame.url().endsWith(`name=${this.name}`));
  }

  report() {
    return this.#frame?.evaluate(() => globalThis.device);
  }

  /** Waits until the device's report passes `test`. An error names `what` if the wait ends first. */
  async until(what, test) {
    const begin = Date.now();
    while (Date.now() - begin < WAIT_MS) {
      const report = await this.report();
      if (report && (await test(report))) return report;
      await this.page.waitForTimeout(20);
    }
    const { conflicts, ...report } = (await this.report()) ?? {};
    throw new Error(`device ${this.name}: ${what}: waited in vain; ${JSON.stringify(report)}`);
  }

  field(number, name) {
    const label = { title: 'Title', status: 'Status', minutes: 'Minutes' }[name];
    return this.view.getByLabel(`${label} of task ${number}`, { exact: true });
  }

  async fields(number) {
    const [title, status, minutes] = await Promise.all(
      ['title', 'status', 'minutes'].map((name) => this.field(number, name).inputValue()),
    );
    return { title, status, minutes };
  }

  async plug(isIn) {
    await this.view.locator('#plug').setChecked(isIn, { force: true });
    const said = isIn ? 'Plugged in' : 'Plug pulled';
    await this.view.getByText(said, { exact: true }).waitFor({ timeout: WAIT_MS });
  }

  words(text) {
    return this.view
      .locator('#status')
      .getByText(text, { exact: true })
      .waitFor({ timeout: WAIT_MS });
  }
}

/** Returns the root of the rows that the server has at first. */
async function firstRoot() {
  const store = await open('expected-tasks', { storage: memory(), tables: { tasks } });
  await store.tasks.putMany(allTasks());
  const { root } = store;
  await store.close();
  return root;
}

/** Returns the root that a device without a page gets from the server. */
async function rootOfClone(url) {
  const store = await open('clone', { storage: memory() });
  const connection = await store.connect(bucket(httpRemote({ url: new URL('remote/', url).href })));
  await connection.pull();
  const { root } = store;
  await store.close();
  return root;
}

/** Waits until both devices have the same rows and no row waits. Returns the root. */
async function alike(devices, what) {
  const [a, b] = devices;
  const isDone = ({ status, waiting }) => status === 'synced' && waiting === 0;
  // Either device may still move, so each look reads both.
  const { root } = await a.until(`${what}: both in sync at one root`, async (report) => {
    const other = await b.report();
    return isDone(report) && other && isDone(other) && other.root === report.root;
  });
  await a.page.locator('#same[data-state=same]').waitFor({ timeout: WAIT_MS });
  return root;
}

async function checkClones(devices, right, { say, check, ms, bytes, count }) {
  for (const device of devices) {
    const { clone, traffic, wired, root, rows } = await device.until(
      `a clone of ${TASKS} rows`,
      (report) => report.state === 'ready' && report.rows === TASKS,
    );
    if (clone === undefined) throw new Error(`device ${device.name} has made no clone`);
    say(
      `device ${device.name}: clone`,
      `${count(rows)} rows, ${clone.requests} requests, ${bytes(clone.received)}, ${ms(clone.ms)}`,
    );
    check(clone.requests > 0, `a clone took ${clone.requests} requests`);
    check(root === right, `device ${device.name} is at root ${root}, but Node makes ${right}`);
    const isCounted = traffic.requests === wired.calls && traffic.receivedBytes === wired.received;
    check(isCounted, `the connection of ${device.name} counts ${JSON.stringify(traffic)}`);
  }
}

async function checkEdit(devices, { check, say }) {
  const [a, b] = devices;
  await a.field(3, 'title').fill(TYPED);
  await a.field(3, 'title').press('Enter');
  await b.view.locator('#tasks li.flash .title.flash').waitFor({ timeout: WAIT_MS });
  const { title } = await b.fields(3);
  check(title === TYPED, `device B lights up, and shows "${title}"`);
  const other = (await b.fields(4)).status === 'done' ? 'open' : 'done';
  await b.field(4, 'status').selectOption(other);
  await a.view.locator('#tasks li.flash .status.flash').waitFor({ timeout: WAIT_MS });
  const { status } = await a.fields(4);
  check(status === other, `device A lights up, and shows "${status}"`);
  await alike(devices, 'after an edit on each');
  say('an edit on each', 'lit up on the other one');
}

async function checkTen(devices, { say, check, count }) {
  const [a, b] = devices;
  await a.view.getByRole('button', { name: 'Change ten random rows' }).click();
  const sent = await a.until(
    'ten rows sent',
    ({ exchange }) => exchange?.way === 'sent' && exchange.rows === 10,
  );
  const received = await b.until(
    'ten rows received',
    ({ exchange }) => exchange?.way === 'received' && exchange.rows === 10,
  );
  const [up, down] = [sent.exchange, received.exchange];
  say('ten rows: sent', `${up.requests} request, ${count(up.sent)} bytes`);
  say('ten rows: received', `${down.requests} request, ${count(down.received)} bytes`);
  for (const { requests } of [up, down])
    check(requests === 1, `ten rows took ${requests} requests`);
  for (const bytes of [up.sent, down.received]) {
    check(bytes > 0 && bytes < MOST_TEN_BYTES, `ten rows took ${bytes} bytes`);
  }
  await alike(devices, 'after ten rows');
}

/** Edits on both devices without the server: three rows on A, one of them on B, too. */
async function checkOffline(devices, page, { check, say }) {
  const [a, b] = devices;
  for (const device of devices) await device.plug(false);
  for (const device of devices) await device.words('Offline');
  const before = await Promise.all(devices.map((device) => device.report()));
  await page.getByRole('button', { name: 'Edit task 1 on both' }).click();
  await a.until('one row waits', ({ waiting }) => waiting === 1);
  await a.field(2, 'minutes').fill('77');
  await a.field(2, 'minutes').press('Enter');
  const { status } = await a.fields(5);
  await a.field(5, 'status').selectOption(status === 'done' ? 'open' : 'done');
  await a.words('Offline, 3 changes wait');
  await b.words('Offline, 1 change waits');
  await page.locator('#same[data-state=different]').waitFor({ timeout: WAIT_MS });
  const after = await Promise.all(devices.map((device) => device.report()));
  for (const [index, { name, traffic }] of after.entries()) {
    const more = traffic.requests - before[index].traffic.requests;
    check(more === 0, `device ${name} made ${more} requests with its plug pulled`);
  }
  say('plugs pulled', 'offline, 3 changes wait on A and 1 on B');
  return { a: await a.fields(1), b: await b.fields(1) };
}

/** A reaches the server first, so B merges, and A's minutes stand. */
async function checkMerge(devices, page, wrote, { check, say, bytes }) {
  const [a, b] = devices;
  await a.plug(true);
  await a.until('in sync again', ({ status, waiting }) => status === 'synced' && waiting === 0);
  await b.plug(true);
  await alike(devices, 'after the merge');
  const wanted = JSON.stringify({ ...wrote.a, status: wrote.b.status });
  for (const device of devices) {
    const got = JSON.stringify(await device.fields(1));
    check(got === wanted, `merged, device ${device.name} shows ${got}, not ${wanted}`);
  }
  const { conflicts } = await b.until('a conflict', (report) => report.conflicts.length > 0);
  const [{ id: _, ...found }] = conflicts;
  const right = {
    ...{ number: 1, field: 'minutes', ours: wrote.b.minutes, theirs: wrote.a.minutes },
    ...{ result: wrote.a.minutes, onlyOurs: ['status'], onlyTheirs: ['title'] },
  };
  const isRight = conflicts.length === 1 && JSON.stringify(found) === JSON.stringify(right);
  check(isRight, `the log of B has ${JSON.stringify(conflicts)}`);
  check((await a.report()).conflicts.length === 0, 'device A has decided something, too');
  const shown = page.locator('#conflicts .conflict');
  await shown.first().waitFor({ timeout: WAIT_MS });
  const kept = await shown.locator('.value.kept .what').allTextContents();
  const lost = await shown.locator('.value:not(.kept) .what').allTextContents();
  check(String(kept) === wrote.a.minutes, `the page shows that ${kept} stands`);
  check(String(lost) === wrote.b.minutes, `the page shows that ${lost} was lost`);
  const { exchange } = await b.report();
  check(exchange?.way === 'merged', `device B tells of its merge as "${exchange?.way}"`);
  say(
    'merge',
    `title of A, status of B; minutes ${found.ours} and ${found.theirs}: ${found.result}`,
  );
  check(exchange?.requests > 0, `the merge took ${exchange?.requests} requests`);
  say('  on device B', `${exchange?.requests} requests, ${bytes(exchange?.sent)} sent`);
}

/** Another browser has its own devices at the same server. */
async function checkOther(devices, url, { check, say, watchPage, launchOther }) {
  const other = await launchOther();
  try {
    const page = await other.newPage();
    watchPage(page);
    await page.goto(new URL('devices.html', url).href);
    const [a, b] = ['A', 'B'].map((name) => new Shown(page, name));
    await alike([a, b], 'in another browser');
    const title = 'Seen by another browser';
    await a.field(6, 'title').fill(title);
    await a.field(6, 'title').press('Enter');
    const { root } = await a.until('sent', ({ exchange }) => exchange?.way === 'sent');
    for (const device of [...devices, b]) {
      await device.until(`the other browser's root ${root}`, (report) => report.root === root);
      const shown = await device.fields(6);
      check(shown.title === title, `device ${device.name} shows "${shown.title}"`);
    }
    say('another browser', 'its edit was seen by all four devices');
  } finally {
    await other.close();
  }
}

/** Runs all checks. `pictures(page, name)` is called where there is something to see. */
export async function checkDevices(page, url, tools, pictures) {
  const { say, check } = tools;
  await page.goto(url);
  await page.getByRole('link', { name: 'Sync two devices' }).click();
  const devices = ['A', 'B'].map((name) => new Shown(page, name));
  await checkClones(devices, await firstRoot(), tools);
  await alike(devices, 'after the clones');
  await pictures(page, 'devices');
  await checkEdit(devices, tools);
  await checkTen(devices, tools);
  const wrote = await checkOffline(devices, page, tools);
  await pictures(page, 'devices-offline');
  await checkMerge(devices, page, wrote, tools);
  await pictures(page, 'devices-merged');
  await checkOther(devices, url, tools);
  const root = await alike(devices, 'at the end');
  const cloned = await rootOfClone(url);
  check(cloned === root, `a clone in Node has root ${cloned}, and the devices have ${root}`);
  say('root of all devices', root);

  await page.reload();
  check((await alike(devices, 'after a reload')) === root, 'a reload has changed the root');
  for (const device of devices) {
    const { clone } = await device.report();
    check(clone === undefined, `device ${device.name} has cloned again after a reload`);
  }
  const { length } = (await devices[1].until('its log', ({ conflicts }) => conflicts.length > 0))
    .conflicts;
  check(length === 1, `after a reload the log of B has ${length} entries`);
  await page.getByRole('button', { name: 'Clear the log' }).click();
  await devices[1].until('an empty log', ({ conflicts }) => conflicts.length === 0);
}

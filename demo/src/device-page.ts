/** Shows one device, in a frame of `devices.html` or in its own window. */
import './styles/page.css';
import './styles/controls.css';
import './styles/stage.css';
import './styles/live.css';
import './styles/device.css';
import type { RowChange } from 'hedgerow';
import type { SyncProgress } from 'hedgerow/sync';
import { Device } from './device.js';
import type { Order, Report, Task } from './device-messages.js';
import { byId, setText } from './elements.js';
import { showFigures } from './figure-list.js';
import * as format from './format.js';
import { TaskList } from './task-list.js';
import { TaskMap } from './task-map.js';
import { TASKS } from './tasks.js';
import type { WireCall } from './wire.js';
import { WirePlot } from './wire-plot.js';

const LISTED_CALLS = 4;

const name = new URLSearchParams(location.search).get('name') === 'B' ? 'B' : 'A';
const plug = byId<HTMLInputElement>('plug');
const ten = byId<HTMLButtonElement>('ten');
const again = byId<HTMLButtonElement>('again');
const device = new Device(name, new URL('remote/', location.href).href, {
  onRows: showRows,
  onProgress: showProgress,
  onCall: showCall,
  onChange: show,
  onDeleted: () => location.reload(),
});
const list = new TaskList(byId('tasks'), (number, change) =>
  run(() => device.edit(number, change)),
);
const map = new TaskMap(byId('map'), (number) => goTo(number));
const plot = new WirePlot(byId('plot'), () => device.wire.calls);
let state: Report['state'] = 'starting';
let failure = '';
let isFirst = true;

function showRows(changes: readonly RowChange<Task>[]): void {
  for (const change of changes) {
    const task = change.op === 'delete' ? undefined : change.newValue;
    const before = change.op === 'insert' ? undefined : change.oldValue;
    const { number } = (task ?? before) as Task;
    list.set(number, task, before);
    map.set(number, task, !isFirst && change.op === 'update');
  }
  const [one] = changes;
  if (!isFirst && one !== undefined && changes.length < 100) {
    const more = changes.length > 1 ? ` and ${changes.length - 1} more` : '';
    setText('announcer', `Task ${one.key}${more} changed on device ${name}`);
  }
  if (changes.length > 0) isFirst = false;
  show();
}

function showProgress(progress: SyncProgress | undefined): void {
  if (progress?.phase === 'packs-out') return;
  const packs = progress?.allPacks;
  const part = progress && packs ? progress.packs / packs : undefined;
  const got = progress === undefined ? '' : `: ${format.size(progress.bytes)}`;
  byId('cloning').hidden = false;
  const what = list.tasks === 0 ? 'Cloning the list from' : 'Catching up with';
  setText('cloning-words', `${what} the server${got}`);
  byId('cloned').style.transform = `translateX(${100 * ((part ?? 0.3) - 1)}%)`;
}

function showCall(call: WireCall): void {
  const line = document.createElement('li');
  const words = {
    answered: '',
    unchanged: 'nothing new',
    lost: 'too late',
    cut: 'cut off',
  };
  const bytes = [
    ...(call.sent > 0 ? [`↑ ${format.size(call.sent)}`] : []),
    // The answer is the head of the device that was first: its size is no news, and the line is narrow.
    ...(call.received > 0 && call.outcome !== 'lost' ? [`↓ ${format.size(call.received)}`] : []),
    ...(words[call.outcome] === '' ? [] : [words[call.outcome]]),
  ];
  const code = document.createElement('code');
  code.textContent = call.what;
  line.append(code, bytes.join(' · '));
  const log = byId('calls');
  log.prepend(line);
  while (log.children.length > LISTED_CALLS) log.lastElementChild?.remove();
  plot.draw();
}

/** Describes in a few words what the device does. */
function statusWords(): readonly [words: string, kind: string] {
  const waiting = device.waiting.size;
  const wait = `${format.plural(waiting, 'change')} wait${waiting === 1 ? 's' : ''}`;
  if (state === 'failed') return [failure, 'bad'];
  if (!device.wire.isPlugged) return [waiting > 0 ? `Offline, ${wait}` : 'Offline', 'off'];
  switch (device.state?.status) {
    case undefined:
      return ['Starting', 'busy'];
    case 'synced':
      return waiting > 0 ? ['Sending', 'busy'] : ['In sync', 'good'];
    case 'syncing':
      return ['Syncing', 'busy'];
    case 'offline':
      return [`No answer from the server${waiting > 0 ? `, ${wait}` : ''}`, 'off'];
    case 'waiting':
      return ['Synced by another tab of this browser', 'busy'];
    case 'failing':
      return [`The server refuses: ${device.state.error?.message}`, 'bad'];
    case 'stopped':
      return ['Stopped', 'bad'];
  }
}

function exchangeWords(): string {
  const { exchange, clone } = device.told;
  if (exchange !== undefined) {
    const { way, rows, requests, sent, received } = exchange;
    const verb = { sent: 'Sent', merged: 'Merged and sent', received: 'Received' }[way];
    const what = rows === 0 ? 'what changed' : format.plural(rows, 'row');
    return `${verb} ${what}: ${format.plural(requests, 'request')}, ${format.size(sent + received)}.`;
  }
  if (clone === undefined) return 'Opened what was stored here.';
  const { ms, requests, received } = clone;
  return `Cloned ${format.plural(TASKS, 'row')}: ${format.plural(requests, 'request')}, ${format.size(received)}, ${format.duration(ms)}.`;
}

function show(): void {
  const [words, kind] = statusWords();
  setText('status', words);
  byId('status').className = `status ${kind}`;
  setText('plug-words', device.wire.isPlugged ? 'Plugged in' : 'Plug pulled');
  plug.checked = device.wire.isPlugged;
  document.body.classList.toggle('unplugged', !device.wire.isPlugged);
  const { requests, sentBytes, receivedBytes } = device.traffic;
  const { syncedAt, store } = device;
  showFigures('meter', [
    ['Requests', format.count(requests)],
    ['Sent', format.size(sentBytes)],
    ['Received', format.size(receivedBytes)],
    ['Last sync', syncedAt?.toLocaleTimeString('en-GB') ?? 'never'],
    ['Root', store && list.tasks > 0 ? store.root.slice(0, 8) : '–'],
  ]);
  setText('exchange', state === 'ready' ? exchangeWords() : '');
  const [first = 1, last = first] = [list.shown[0], list.shown.at(-1)];
  setText('range', `${first} to ${last} of ${format.count(TASKS)}`);
  byId<HTMLButtonElement>('previous').disabled = first === 1;
  byId<HTMLButtonElement>('next').disabled = last === TASKS;
  list.mark(device.waiting);
  map.mark(device.waiting, list.shown);
  if (state === 'ready' && device.state?.status !== 'syncing') byId('cloning').hidden = true;
  ten.disabled = again.disabled = state !== 'ready' || list.tasks === 0;
  report();
}

function goTo(number: number): void {
  list.goTo(number);
  show();
}

function report(): void {
  const told: Report = {
    name,
    height: Math.ceil(document.body.getBoundingClientRect().height),
    state,
    status: device.state?.status,
    isPlugged: device.wire.isPlugged,
    waiting: device.waiting.size,
    root: device.store?.root,
    rows: list.tasks,
    traffic: device.traffic,
    wired: {
      calls: device.wire.calls.length,
      received: device.wire.calls.reduce((sum, { received }) => sum + received, 0),
    },
    ...device.told,
  };
  Object.assign(globalThis, { device: told });
  if (parent !== window) parent.postMessage({ report: told }, location.origin);
}

async function run(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (cause) {
    console.error(cause);
    state = 'failed';
    failure = cause instanceof TypeError ? 'No server: start it by “npm run demo”' : String(cause);
  }
  show();
}

function obey(order: Order): Promise<void> | void {
  if (order.do === 'plug') return device.plug(order.isPlugged);
  if (order.do === 'ten') return device.changeTen();
  if (order.do === 'forget') return device.forgetConflicts();
  goTo(order.number);
  return device.stir(order.number, order.field, order.minutes);
}

addEventListener('message', ({ origin, source, data }) => {
  if (origin !== location.origin || source !== parent || data?.order === undefined) return;
  void run(async () => obey(data.order as Order));
});
plug.addEventListener('change', () => device.plug(plug.checked));
ten.addEventListener('click', () => void run(() => device.changeTen()));
again.addEventListener('click', () => {
  again.disabled = true;
  void run(async () => {
    await device.startAgain();
    location.reload();
  });
});
for (const [id, pages] of [
  ['previous', -1],
  ['next', 1],
] as const) {
  byId(id).addEventListener('click', () => {
    list.step(pages);
    show();
  });
}
new ResizeObserver(report).observe(document.body);
setText('name', `Device ${name}`);
document.title = `Hedgerow: device ${name}`;
void run(async () => {
  await device.start();
  state = 'ready';
});

/** Shows two devices side by side, and whether they are alike. */
import './styles/page.css';
import './styles/controls.css';
import './styles/device.css';
import './styles/devices.css';
import type { Order, Report, ToldConflict } from './device-messages.js';
import { announce, byId, make, setText } from './elements.js';
import * as format from './format.js';

const NAMES = ['A', 'B'] as const;
type Name = (typeof NAMES)[number];

/** The task of the third step. */
const NUMBER = 1;

const frames: Readonly<Record<Name, HTMLIFrameElement>> = {
  A: byId('device-a'),
  B: byId('device-b'),
};
const reports: Partial<Record<Name, Report>> = {};
let shownConflicts = '';

function order(name: Name, what: Order): void {
  frames[name].contentWindow?.postMessage({ order: what }, location.origin);
}

function showSame(): void {
  const [a, b] = NAMES.map((name) => reports[name]);
  setText('root-a', a?.root && a.rows > 0 ? format.shortRoot(a.root) : '…');
  setText('root-b', b?.root && b.rows > 0 ? format.shortRoot(b.root) : '…');
  const isKnown = a?.state === 'ready' && b?.state === 'ready' && a.rows > 0 && b.rows > 0;
  const isSame = isKnown && a.root === b.root;
  byId('same').dataset.state = isSame ? 'same' : isKnown ? 'different' : 'unknown';
  setText('same-sign', isSame ? '=' : isKnown ? '≠' : '…');
  const isOff = [a, b].some((one) => one?.isPlugged === false);
  const failed = [a, b].some((one) => one?.state === 'failed');
  setText(
    'same-words',
    isSame
      ? `Same root: all ${format.count(a.rows)} rows are equal`
      : isKnown
        ? `The rows differ${isOff ? ' while a plug is pulled' : ', for a moment'}`
        : failed
          ? 'A device could not start'
          : 'Starting both devices',
  );
}

function side(who: string, value: string, isKept: boolean): HTMLElement {
  return make(
    'div',
    { class: isKept ? 'value kept' : 'value' },
    make('span', { class: 'who' }, who),
    make('span', { class: 'what' }, value),
    make('span', { class: 'fate' }, isKept ? '✓ stands' : 'lost, kept in this log'),
  );
}

function conflictView(name: Name, conflict: ToldConflict): HTMLElement {
  const { number, field, ours, theirs, result, onlyOurs, onlyTheirs } = conflict;
  const merged = [
    ...onlyOurs.map((one) => `${one} from device ${name}`),
    ...onlyTheirs.map((one) => `${one} from the other side`),
  ];
  return make(
    'article',
    { class: 'conflict' },
    make('h3', {}, `Task ${number}: ${field}`),
    side('First at the server', theirs, result === theirs),
    side(`Device ${name}, later`, ours, result === ours && ours !== theirs),
    ...(merged.length > 0
      ? [make('p', { class: 'fine' }, `Merged in the same row: ${merged.join(', ')}.`)]
      : []),
  );
}

function showConflicts(): void {
  const all = NAMES.flatMap((name) =>
    (reports[name]?.conflicts ?? []).map((conflict) => ({ name, conflict })),
  );
  const text = JSON.stringify(all);
  if (text === shownConflicts) return;
  shownConflicts = text;
  byId('conflicts').replaceChildren(
    ...all.map(({ name, conflict }) => conflictView(name, conflict)),
  );
  byId('no-conflicts').hidden = all.length > 0;
  byId<HTMLButtonElement>('forget').disabled = all.length === 0;
  if (all.length > 0) announce(`${format.plural(all.length, 'conflict')} in the log`);
}

function show(): void {
  showSame();
  showConflicts();
  const isReady = NAMES.every((name) => reports[name]?.state === 'ready');
  const plugged = NAMES.filter((name) => reports[name]?.isPlugged).length;
  const usable = {
    'step-ten': isReady,
    'step-unplug': isReady && plugged > 0,
    'step-edit': isReady,
    'step-plug': isReady && plugged < 2,
  };
  for (const [id, can] of Object.entries(usable)) byId<HTMLButtonElement>(id).disabled = !can;
}

addEventListener('message', ({ origin, source, data }) => {
  const name = NAMES.find((one) => frames[one].contentWindow === source);
  const report = data?.report as Report | undefined;
  if (origin !== location.origin || name === undefined || report === undefined) return;
  reports[name] = report;
  frames[name].style.height = `${report.height}px`;
  show();
});

function onClick(id: string, work: () => void): void {
  byId(id).addEventListener('click', work);
}

onClick('step-ten', () => order('A', { do: 'ten' }));
onClick('step-unplug', () => {
  for (const name of NAMES) order(name, { do: 'plug', isPlugged: false });
});
onClick('step-plug', () => {
  for (const name of NAMES) order(name, { do: 'plug', isPlugged: true });
});
onClick('step-edit', () => {
  order('A', { do: 'stir', number: NUMBER, field: 'title', minutes: 10 });
  order('B', { do: 'stir', number: NUMBER, field: 'status', minutes: 25 });
});
onClick('forget', () => {
  for (const name of NAMES) order(name, { do: 'forget' });
});

/** Shows the locks that tabs and workers have of the store, and reads them repeatedly while it is shown. */

import { locksOf } from '../model/lock-list.js';
import { fill, h, tableElement } from './dom.js';
import type { MakePanel } from './panel-types.js';

const EVERY_MS = 1000;

export const tabsPanel: MakePanel = (context) => {
  const { place } = context.session;
  const result = h('div', {}, h('p', { class: 'faint' }, 'Reading …'));
  const intro = h(
    'p',
    { class: 'faint' },
    'A browser tells which tab has which lock, and no more: watches and live queries of other tabs leave no trace. ' +
      'This page is one of the tabs; what it reads has pins, too.',
  );
  let timer: ReturnType<typeof setInterval> | undefined;
  let before = '';
  const look = async () => {
    const snapshot = await navigator.locks.query();
    const { locks, clients } = locksOf(snapshot, place.name);
    // Only new locks are drawn, so that a person can select text.
    const now = JSON.stringify(locks);
    if (now === before) return;
    before = now;
    const rows = locks.map(({ name, means, isHeld, client }) => [
      h('code', {}, name),
      means,
      isHeld ? 'held' : 'waits',
      client,
    ]);
    const noun = clients === 1 ? 'tab or worker' : 'tabs and workers';
    fill(
      result,
      h('p', {}, `${clients} ${noun} with locks of this store`),
      tableElement('Locks', ['lock', 'meaning', 'state', 'who'], rows),
    );
  };
  if (!place.canEdit) fill(result, h('p', {}, 'A file is open in this page alone.'));
  else if (navigator.locks === undefined) {
    fill(result, h('p', {}, 'There are no Web Locks here: the page did not come by HTTPS.'));
  } else {
    const again = () => void look().catch((cause) => context.fail(cause));
    again();
    timer = setInterval(again, EVERY_MS);
  }
  const element = h('div', { class: 'plain' }, h('h2', {}, 'Tabs and locks'), intro, result);
  return { element, close: () => clearInterval(timer) };
};

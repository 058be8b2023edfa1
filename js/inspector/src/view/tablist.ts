/** The tabs of the page: one stop for the Tab key, arrow keys between them. */

import { TABS, type Tab } from '../model/page-address.js';
import { h } from './dom.js';

const TITLES: Readonly<Record<Tab, string>> = {
  rows: 'Rows',
  branches: 'Branches',
  compare: 'Compare',
  storage: 'Storage',
  tabs: 'Tabs',
  check: 'Verify',
  file: 'Export',
  time: 'Time',
};

/** The id of the element that a tab shows. */
export const PANEL_ID = 'panel';

/** Creates the tabs, with the chosen one. */
export function tablist(chosen: Tab, onChoose: (tab: Tab) => void): HTMLElement {
  const tabOf = (tab: Tab) =>
    h(
      'button',
      {
        type: 'button',
        role: 'tab',
        id: `tab-${tab}`,
        'aria-selected': tab === chosen ? 'true' : 'false',
        'aria-controls': PANEL_ID,
        tabindex: tab === chosen ? 0 : -1,
        onclick: () => onChoose(tab),
      },
      TITLES[tab],
    );
  const onkeydown = (event: KeyboardEvent) => {
    const at = TABS.indexOf(chosen);
    const steps: Readonly<Record<string, number>> = {
      ArrowRight: (at + 1) % TABS.length,
      ArrowLeft: (at + TABS.length - 1) % TABS.length,
      Home: 0,
      End: TABS.length - 1,
    };
    const to = TABS[steps[event.key] ?? -1];
    if (to === undefined) return;
    event.preventDefault();
    onChoose(to);
    document.getElementById(`tab-${to}`)?.focus();
  };
  return h('div', { role: 'tablist', 'aria-label': 'Parts', onkeydown }, ...TABS.map(tabOf));
}

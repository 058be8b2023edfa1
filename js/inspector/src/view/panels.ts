/** The panels, by their tabs. */

import type { Tab } from '../model/page-address.js';
import { branchesPanel } from './branches-panel.js';
import { checkPanel } from './check-panel.js';
import { comparePanel } from './compare-panel.js';
import type { MakePanel } from './context.js';
import { filePanel } from './file-panel.js';
import { rowsPanel } from './rows.js';
import { storagePanel } from './storage-panel.js';
import { tabsPanel } from './tabs-panel.js';
import { timePanel } from './time.js';

export const PANELS: Readonly<Record<Tab, MakePanel>> = {
  rows: rowsPanel,
  branches: branchesPanel,
  compare: comparePanel,
  storage: storagePanel,
  tabs: tabsPanel,
  check: checkPanel,
  file: filePanel,
  time: timePanel,
};

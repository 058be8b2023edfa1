/** The panels, by their tabs. */

import type { Tab } from '../model/page-address.js';
import { branchesPanel } from './branches-panel.js';
import { comparePanel } from './compare-panel.js';
import { filePanel } from './export-panel.js';
import { tabsPanel } from './locks-panel.js';
import { timePanel } from './page-work-panel.js';
import type { MakePanel } from './panel-types.js';
import { rowsPanel } from './rows.js';
import { storagePanel } from './storage-panel.js';
import { checkPanel } from './verification-panel.js';

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

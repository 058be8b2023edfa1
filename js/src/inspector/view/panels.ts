/** Which panel a tab shows. */

import type { Tab } from '../model/place.js';
import { branchesPanel } from './branches.js';
import { checkPanel } from './check.js';
import { comparePanel } from './compare.js';
import type { MakePanel } from './context.js';
import { filePanel } from './file.js';
import { rowsPanel } from './rows.js';
import { storagePanel } from './storage.js';
import { tabsPanel } from './tabs.js';
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

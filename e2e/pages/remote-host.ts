/** A dedicated or a shared worker that has a store, by its own name. */
import { open, rowType, table } from 'hedgerow';
import { serve } from 'hedgerow/worker';
import { issuesOf } from './remote-issues.js';

serve({ open: () => open(self.name, { tables: issuesOf({ rowType, table }) }) });

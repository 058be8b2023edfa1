/** A dedicated or a shared worker that has a store, by its own name. */
import { open } from 'hedgerow';
import { table } from 'hedgerow/tables';
import { serve } from 'hedgerow/worker-host';
import { issuesOf } from './remote-issues.js';

serve({ open: () => open(self.name, { tables: issuesOf(table) }) });

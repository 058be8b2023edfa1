/** The worker of the case `worker`. */
import { open, rowType, table } from 'hedgerow';
import { serve } from 'hedgerow/worker';
import type { Row } from '../rows.js';

const issues = table({ schema: rowType<Row>(), key: 'id', indexes: { byModified: ['modified'] } });
const served = serve({ open: () => open('bench', { tables: { issues } }) });
addEventListener('message', async ({ data }) => {
  if (data !== 'close') return;
  await served.close();
  postMessage('closed');
});

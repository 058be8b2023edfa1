/** A store in a worker whose messages a test can see. */
import { memory, open, rowType, table } from '../../../src/index.js';
import { connect } from '../../../src/worker/index.js';
import { PART } from '../../../src/worker/protocol.js';
import { serve } from '../../../src/worker/serve.js';
import { opened, relay } from '../doubles/worker-wire.js';

export interface Issue {
  id: string;
  title: string;
  status: string;
}
const issues = table({ schema: rowType<Issue>(), key: 'id', indexes: { byState: ['status'] } });
const events = table({
  schema: rowType<{ id: string; at: Date; tags: Set<string>; size: bigint }>(),
  key: 'id',
  values: 'structured',
});
export const tables = { issues, events };

export const entries = (count: number): [string, unknown][] =>
  Array.from({ length: count }, (_, n) => [
    `k${String(n).padStart(6, '0')}`,
    { n, text: 'x'.repeat(80) },
  ]);

/** A connection whose messages can be seen. */
export async function seen() {
  const { page, host, sent, ...more } = relay();
  const db = await open('seen', { storage: memory(), tables });
  const served = serve({ open: async () => db, port: host });
  opened.push(() => served.close());
  const remote = await connect<typeof tables>(page);
  opened.push(() => remote.close());
  const parts = () => sent.filter(([tag]) => tag === PART);
  return { db, remote, sent, parts, ...more };
}

// Types into a document over SQLite, as a separate process, until it is killed. It says `ack n` when all up to number n
// is stored, in one write that does not wait.
import { writeSync } from 'node:fs';
import { HedgerowProvider } from '@hedgerow/adapters/yjs';
import { sqlite } from '@hedgerow/sqlite';
import { open } from 'hedgerow';
import * as Y from 'yjs';

const [, , location, run] = process.argv;
const db = await open('yjs', { storage: sqlite({ location }) });
const doc = new Y.Doc();
const provider = new HedgerowProvider(db, 'doc', doc, { maxRows: 8, maxBytes: 500 });
await provider.whenSynced;

const list = doc.getArray('list');
for (let n = 0; ; n++) {
  list.push([`${run}/${n}`]);
  doc.getText('text').insert(0, `${n} `);
  // It does not wait for each of them.
  if (n % 3 !== 0) continue;
  await provider.flush();
  writeSync(1, `ack ${n}\n`);
}

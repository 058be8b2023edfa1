// A device: pulls the room, adds a note if the command has one, and prints all notes.
//
//     TOKEN=... node device.mjs <room> [note] [--location data] [--endpoint http://127.0.0.1:7081/]
import { parseArgs } from 'node:util';
import { sqlite } from '@hedgerow/sqlite';
import { openRoom } from './room.mjs';

const type = 'string';
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    location: { type, default: 'data' },
    endpoint: { type, default: 'http://127.0.0.1:7081/' },
  },
});
const [room, text] = positionals;
const { db, connection } = await openRoom({
  ...{ account: 'me', room, endpoint: values.endpoint },
  token: () => process.env.TOKEN,
  storage: sqlite({ location: values.location }),
});
await connection.pull();
if (text !== undefined) {
  await db.put(`note/${crypto.randomUUID()}`, { text });
  await connection.push();
}
for await (const [, note] of db.scan({ prefix: 'note/' })) console.log(note.text);
await db.close();

// A process of its own that uses a store over SQLite until it is done or killed. Its first argument names the task.
// It says `ack n` when change n is made, in one write that does not wait.
import { writeSync } from 'node:fs';
import { sqlite } from '@hedgerow/sqlite';
import { open } from 'hedgerow';

const [, , task, location, from = '0', durability = 'relaxed'] = process.argv;
const storage = sqlite({ location });
const db = await open('shared', { storage, durability });
const say = (text) => writeSync(1, `${text}\n`);

/** The rows of change `at`, of which all or none must exist. */
const rowsOf = (at, count) =>
  Array.from({ length: count }, (_, row) => [`${at}/${row}`, { at, row, text: 'x'.repeat(99) }]);

const tasks = {
  /** Loads for ever: several segments each. */
  async load() {
    for (let at = Number(from); ; at++) {
      await db.putMany(rowsOf(at, 15_000));
      say(`ack ${at}`);
    }
  },
  /** Commits for ever: a few rows each. */
  async commit() {
    for (let at = Number(from); ; at++) {
      await db.putMany(rowsOf(at, 3));
      say(`ack ${at}`);
    }
  },
  /** Adds one to a number, a given number of times. */
  async count() {
    for (let at = 0; at < Number(from); at++) {
      await db.transaction(async (tx) => tx.put('number', ((await tx.get('number')) ?? 0) + 1));
      if (at % 8 === 0) await db.put(`own/${process.pid}/${at}`, { at });
    }
    await db.close();
    say('done');
  },
  /** Holds a snapshot until a message asks for a read. */
  async snapshot() {
    const snapshot = db.snapshot();
    await snapshot.get('0');
    say('ready');
    process.stdin.once('data', async () => {
      const keys = await snapshot.scan().keys().toArray();
      say(`read ${keys.length}`);
      await db.close();
      process.exit(0);
    });
  },
};
say('open');
await tasks[task]();

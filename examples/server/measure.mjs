// Measures the server over SQLite and Postgres, both durable: mutations a second, and the first pull of many rows.
//
//     node measure.mjs [--rows 100000] [--mutations 2000]

import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { Client, DATABASES, startServer } from './test/servers.mjs';

const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '100000' },
    mutations: { type: 'string', default: '2000' },
  },
});
const rows = Number(values.rows);
const count = Number(values.mutations);
const seconds = async (work) => {
  const begun = performance.now();
  await work();
  return (performance.now() - begun) / 1000;
};
/** Returns the peak memory of a process, in MB; only Linux has it. */
const peakOf = (pid) =>
  Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1000;
const say = (name, what, figure) => console.log(`${name.padEnd(9)} ${what.padEnd(52)} ${figure}`);
const value = {
  title: 'A title of usual length for an issue',
  status: 'open',
  owner: 'somebody',
  n: 1,
};

for (const kind of DATABASES) {
  await kind.start({ durable: true });
  const database = await kind.create();
  let server = await startServer(database.args);
  let clients = 0;
  const client = (space) => new Client(server.url, `client-${++clients}`, { space });
  const { name } = kind;

  const offline = client('queue');
  const queue = Array.from({ length: count }, (_, i) =>
    offline.mutation('put', { key: `issue/${i}`, value }),
  );
  const atOnce = await seconds(() => offline.send(queue));
  say(
    name,
    `${count} mutations of one client in one push`,
    `${Math.round(count / atOnce)} a second`,
  );

  for (const spaces of [1, 8]) {
    const writers = Array.from({ length: 8 }, (_, i) => client(`s${i % spaces}-of-${spaces}`));
    const each = Math.ceil(count / 32);
    const alone = await seconds(() =>
      Promise.all(
        writers.map(async (who, w) => {
          for (let i = 0; i < each; i++) await who.push('put', { key: `issue/${w}-${i}`, value });
        }),
      ),
    );
    const what = `8 clients, a push for each mutation, ${spaces} space(s)`;
    say(name, what, `${Math.round((8 * each) / alone)} a second`);
  }

  const filler = client('many');
  await filler.push('put', { key: 'issue/0', value });
  await database.query(
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${rows - 1})
     INSERT INTO hedgerow_row (space, key, value, version)
     SELECT 'many', 'issue/' || (1000000 + i), '${JSON.stringify(value)}', 1 FROM n`,
  );
  await server.stop();
  server = await startServer(database.args); // So that the pull alone makes the peak of memory.
  const reader = client('many');
  await reader.ask({ schemaVersion: 'none' });
  const before = peakOf(server.pid);
  let bytes = 0;
  const took = await seconds(async () => {
    const response = await fetch(`${server.url}/pull?space=many`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ pullVersion: 1, schemaVersion: '', clientGroupID: 'g', cookie: null }),
    });
    for await (const part of response.body) bytes += part.length;
  });
  const more = (peakOf(server.pid) - before).toFixed(0);
  const size = (bytes / 1e6).toFixed(1);
  say(name, `first pull of ${rows} rows, ${size} MB`, `${took.toFixed(2)} s, ${more} MB of memory`);
  await reader.pull();
  const nothing = await seconds(() => reader.pull());
  say(name, 'a pull of nothing new', `${(nothing * 1000).toFixed(1)} ms`);
  await server.stop();
  await database.drop();
  await kind.stop();
}

// Brings the issues of a store over SQLite to version 2, as a separate process, until it is done or killed. It says
// `left n` when n rows are left, and at the end the longest time for which it blocked.
import { writeSync } from 'node:fs';
import { sqlite } from '@hedgerow/sqlite';
import { open } from 'hedgerow';
import { table } from '../../../dist/index.js';
import { newIssues } from '../../support/migrating.mjs';

const [, , location] = process.argv;
const say = (text) => writeSync(1, `${text}\n`);

let isOver = false;
let longestMs = 0;
let lastMs = performance.now();
let last = process.cpuUsage();
const look = () => {
  const nowMs = performance.now();
  const { user, system } = process.cpuUsage(last);
  // The processor time of other processes does not count.
  longestMs = Math.max(longestMs, Math.min(nowMs - lastMs, (user + system) / 1000));
  lastMs = nowMs;
  last = process.cpuUsage();
  if (!isOver) setImmediate(look);
};

const storage = sqlite({ location });
const tables = { issues: newIssues(table) };
const onMigration = ({ remaining, error }) => say(error ? `rests: ${error}` : `left ${remaining}`);
const db = await open('app', { storage, tables, onMigration });
say('open');
look();
await db.issues.where({ state: 'open' }).count();
isOver = true;
const { remaining, refused } = await db.issues.migration();
await db.close();
say(`done ${remaining} ${refused} ${longestMs.toFixed(1)}`);

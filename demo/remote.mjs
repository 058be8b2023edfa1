// Serves `devices.html`: this project's reference server over a remote in memory. It begins with the tasks of
// `src/tasks.js` and is gone when the program ends.

import { serveRemote } from '@hedgerow/server';
import { memory, open } from 'hedgerow';
import { bucket, memoryRemote } from 'hedgerow/sync';
import { allTasks, tasks } from './src/tasks.js';

/** Starts the server. Resolves to its `url`, the `root` of its rows, and `close()`. */
export async function startRemote() {
  const remote = memoryRemote();
  const store = await open('tasks', { storage: memory(), tables: { tasks } });
  await store.tasks.putMany(allTasks());
  // A remote in memory keeps writers apart: no probe is needed.
  const connection = await store.connect(bucket(remote, { probe: false }));
  await connection.push();
  const { root } = store;
  await store.close();
  const { url, close } = await serveRemote(remote, { origin: '*' });
  return { url, root, close };
}

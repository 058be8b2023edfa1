// Computes the roots of one history, in a browser over IndexedDB.

import { destroy, idb, open } from 'hedgerow';
import { workload } from './workload.js';

globalThis.roots = async (count) => {
  await destroy('roots');
  const { db, steps } = await workload({ open, storage: idb(), name: 'roots', count });
  await db.close();
  return steps;
};

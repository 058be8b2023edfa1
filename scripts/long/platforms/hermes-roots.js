// Computes the roots of one history, in Hermes.

import { memory, open } from 'hedgerow';
import { workload } from './workload.js';

workload({ open, storage: memory(), name: 'roots', count: 2000 })
  .then(({ steps }) => print(JSON.stringify(steps)))
  .catch((error) => print(`${error}`));

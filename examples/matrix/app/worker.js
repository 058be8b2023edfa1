// A dedicated worker: it posts the outcome of its run.

import { modules } from './modules.js';
import { outcome } from './report.js';
import { scenario } from './scenario.js';

outcome(scenario(modules, { name: 'worker' })).then((result) => postMessage(result));

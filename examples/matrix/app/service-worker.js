// A service worker: a page asks it to run.

import { modules } from './modules.js';
import { outcome } from './report.js';
import { scenario } from './scenario.js';

addEventListener('install', () => skipWaiting());
addEventListener('activate', (event) => event.waitUntil(clients.claim()));
addEventListener('message', (event) => {
  const run = outcome(scenario(modules, { name: 'service worker' }));
  event.waitUntil(run.then((result) => event.source.postMessage(result)));
});

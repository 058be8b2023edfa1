// The page of a service worker; the address names the worker: `?sw=sw.js&type=module`.

import { note } from './report.js';

const parameters = new URLSearchParams(location.search);
try {
  navigator.serviceWorker.onmessage = ({ data }) => note('service worker', data);
  await navigator.serviceWorker.register(parameters.get('sw'), { type: parameters.get('type') });
  const { active } = await navigator.serviceWorker.ready;
  active.postMessage('run');
} catch (error) {
  note('service worker', { ok: false, error: String(error) });
}

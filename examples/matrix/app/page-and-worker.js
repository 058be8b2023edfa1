// A page, and its worker in the form that bundlers look for.

import './page.js';
import { firstNoted, note } from './report.js';

// Afterwards: requests of a worker are no part of the page's start.
firstNoted().then(() => {
  const worker = new Worker(new URL('./worker.js', import.meta.url), { type: 'module' });
  worker.onmessage = ({ data }) => note('worker', data);
  worker.onerror = ({ message }) =>
    note('worker', { ok: false, error: message ?? 'did not start' });
});

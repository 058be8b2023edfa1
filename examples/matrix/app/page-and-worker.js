// A page, and its worker in the form that bundlers look for.

import './page.js';
import { firstNoted, note } from './report.js';

// Afterwards: what a worker fetches is no part of the start of the page.
firstNoted().then(() => {
  const worker = new Worker(new URL('./worker.js', import.meta.url), { type: 'module' });
  worker.onmessage = ({ data }) => note('worker', data);
  worker.onerror = ({ message }) =>
    note('worker', { ok: false, error: message ?? 'did not start' });
});

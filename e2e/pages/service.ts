/** The page of `tests/start-up.spec.ts` that has service workers, and asks them to run the library. */
import fullUrl from './service-full.ts?worker&url';
import plainUrl from './service-plain.ts?worker&url';

declare global {
  interface Window {
    /** Makes a module service worker with this entry run a scenario. Returns its results. */
    inServiceWorker(entry: 'full' | 'plain'): Promise<unknown>;
  }
}

const URLS = { full: fullUrl, plain: plainUrl };

window.inServiceWorker = async (entry) => {
  const registration = await navigator.serviceWorker.register(URLS[entry], { type: 'module' });
  const worker = registration.installing ?? registration.waiting ?? registration.active;
  if (worker === null) throw new Error('there is no worker');
  const { port1, port2 } = new MessageChannel();
  const answer = new Promise((resolve) => {
    port1.onmessage = ({ data }) => resolve(data);
  });
  worker.postMessage('run', [port2]);
  return answer;
};

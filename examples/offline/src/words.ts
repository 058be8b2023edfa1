/** Describes a state in words for everybody. */
import type { MutatorState } from 'hedgerow/sync';

/** The problem and what a person can do, by the code of an error. */
const TROUBLES: Readonly<Record<string, readonly [what: string, next: string]>> = {
  offline: ['Offline', 'You can go on.'],
  remote: ['The server refuses', ''],
  unauthorized: ['Please sign in again', 'Then everything is sent.'],
  'newer-version': ['The server needs a newer page', 'Reload it: what waits is kept.'],
};

const QUIET: Readonly<Record<string, readonly [tone: string, title: string, detail: string]>> = {
  synced: ['good', 'Everything is saved at the server.', 'You see what your team sees.'],
  syncing: ['busy', 'Asking the server for news.', 'Everything is kept on this device.'],
  stopped: ['bad', 'This page no longer talks to the server.', 'Reload it: nothing is lost.'],
  waiting: ['good', 'All that you wrote is saved.', 'Another tab talks to the server.'],
};

function nextTry(retryAt = Date.now()): string {
  const seconds = Math.max(1, Math.ceil((retryAt - Date.now()) / 1000));
  return `Next try within ${seconds === 1 ? 'a second' : `${seconds} seconds`}.`;
}

/** `tone` chooses the colour. */
export function words({ status, pendingCalls: pending, error, retryAt }: MutatorState) {
  const changes = pending === 1 ? '1 change' : `${pending} changes`;
  const waits = `${changes} ${pending === 1 ? 'waits' : 'wait'}`;
  const isTrying = status === 'syncing' && error !== undefined;
  if (error && (isTrying || status === 'offline' || status === 'failing')) {
    const { code, message } = error;
    const [what, next] = TROUBLES[code] ?? [`Nothing can be sent: ${message}`, ''];
    const number = error.status ? ` (${error.status})` : '';
    const kept = pending > 0 ? `${waits} on this device.` : 'Everything is kept on this device.';
    const tone = code === 'offline' ? 'off' : 'bad';
    const detail = isTrying ? 'Trying again now.' : `${next} ${nextTry(retryAt)}`.trim();
    return { tone, title: `${what}${number}. ${kept}`, detail };
  }
  if (pending > 0) {
    const title = status === 'syncing' ? `Sending ${changes}.` : `${waits} to be sent.`;
    return { tone: 'busy', title, detail: 'Kept on this device until the server has it.' };
  }
  const [tone = '', title = '', detail = ''] = QUIET[status] ?? [];
  return { tone, title, detail };
}

/** The network as the switches of this page make it. */
import { HedgerowError } from 'hedgerow';
import type { Endpoint } from 'hedgerow/mutators';

/** Kept over a reload, and the same in all tabs. */
const isOn = (name: string) => localStorage.getItem(name) === 'on';

export const flip = ({ name, checked }: HTMLInputElement) =>
  localStorage.setItem(name, checked ? 'on' : 'off');

/** Shows how the switches stand. */
export function showSwitches(): void {
  for (const input of document.querySelectorAll<HTMLInputElement>('#switches input'))
    input.checked = isOn(input.name);
}

const post = (path: string, body: unknown, signal: AbortSignal | null = null) =>
  fetch(`/api/${path}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
    signal,
  });

/** Where this app pushes and pulls. An app without switches gives `{ url }` instead. */
export function endpoint(path: 'push' | 'pull'): Endpoint<unknown> {
  return async (request, { signal }) => {
    // Nothing has left this page: such a call can still be dropped.
    if (isOn('unplugged'))
      throw new HedgerowError('offline', 'the plug is pulled', { isSent: false });
    if (isOn('down')) return new Response(null, { status: 503 });
    if (isOn('signed-out')) return new Response(null, { status: 401 });
    return post(path, request, signal);
  };
}

/** A colleague at another device, whom no switch of this page concerns. */
export function colleague(name: string, args: object): Promise<Response> {
  const [clientID, timestamp] = [crypto.randomUUID(), Date.now()];
  const mutations = [{ clientID, id: 1, name, args, timestamp }];
  const client = { clientGroupID: clientID, profileID: clientID };
  return post('push', { pushVersion: 1, schemaVersion: '', ...client, mutations });
}

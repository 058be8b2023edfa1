/** Simulates the network that the switches of this page describe. */
import { HedgerowError } from 'hedgerow';
import type { Endpoint } from 'hedgerow/sync';

/** Kept over a reload, and the same in all tabs. */
const isOn = (name: string) => localStorage.getItem(name) === 'on';

export const flip = ({ name, checked }: HTMLInputElement) =>
  localStorage.setItem(name, checked ? 'on' : 'off');

/** Shows the switches. */
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

/** Returns the endpoint for pushes or pulls. An app without switches passes `{ url }` instead. */
export function endpoint(path: 'push' | 'pull'): Endpoint<unknown> {
  return async (request, { signal }) => {
    // The call has not left this page, so it can still be dropped.
    if (isOn('unplugged'))
      throw new HedgerowError('offline', 'the plug is pulled', { isSent: false });
    if (isOn('down')) return new Response(null, { status: 503 });
    if (isOn('signed-out')) return new Response(null, { status: 401 });
    return post(path, request, signal);
  };
}

/** Acts as a colleague at another device, whom the switches of this page do not concern. */
export function colleague(name: string, args: object): Promise<Response> {
  const [clientID, timestamp] = [crypto.randomUUID(), Date.now()];
  const mutations = [{ clientID, id: 1, name, args, timestamp }];
  const client = { clientGroupID: clientID, profileID: clientID };
  return post('push', { pushVersion: 1, schemaVersion: '', ...client, mutations });
}

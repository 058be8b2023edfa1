/** Lists the objects of a remote. */
import type { Remote } from '../../src/sync/remote/index.js';

/** Returns all objects of a remote by their names. */
export async function objectsOf(remote: Remote): Promise<Map<string, Uint8Array>> {
  const found = new Map<string, Uint8Array>();
  const repository = await remote.get('hedgerow');
  if (repository) found.set('hedgerow', repository);
  for (const prefix of ['p/', 'd/'] as const) {
    for (const { name } of await remote.list(prefix)) {
      found.set(name, (await remote.get(name)) as Uint8Array);
    }
  }
  for (const { name } of await remote.list('h/')) {
    const head = await remote.readHead(decodeURIComponent(name.slice(2)));
    found.set(name, head?.bytes as Uint8Array);
  }
  return found;
}

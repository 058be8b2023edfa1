/** Copies of remotes, as an operator makes and restores them. */
import type { memoryRemote } from '../../../src/sync/remote/index.js';
import { objectsOf } from '../remote-objects.js';

export type Folder = ReturnType<typeof memoryRemote>;

/** Puts the objects of one remote into another, together with the head. */
export async function restore(from: Folder, to: Folder): Promise<void> {
  for (const [name, bytes] of await objectsOf(from)) {
    if (!name.startsWith('h/')) await to.put(name, bytes);
  }
  const [there, here] = [await from.readHead('main'), await to.readHead('main')];
  if (there) await to.swapHead('main', here?.token, there.bytes);
}

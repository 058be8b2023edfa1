/** Copies of remotes, as an operator makes and restores them. */
import type { memoryRemote } from '../../../src/sync/remote/index.js';

export type Folder = ReturnType<typeof memoryRemote>;

/** Puts the objects of one remote into another, together with the head. */
export async function restore(from: Folder, to: Folder): Promise<void> {
  for (const prefix of ['p/', 'd/'] as const) {
    for (const { name } of await from.list(prefix)) {
      await to.put(name, (await from.get(name)) as Uint8Array);
    }
  }
  await to.put('hedgerow', (await from.get('hedgerow')) as Uint8Array);
  const [there, here] = [await from.readHead('main'), await to.readHead('main')];
  if (there) await to.swapHead('main', here?.token, there.bytes);
}

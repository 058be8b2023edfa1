/** The powers of an operator over a remote: to put an old copy in its place, and to show each device another one. */

import { memoryRemote, type Remote, type Swap } from '../../../src/sync/remote/index.js';
import { objectsOf } from '../remote-objects.js';

/** One state of a remote, which changes independently. */
export interface World {
  readonly remote: Remote;
  /** A number that makes the tokens of each world different. */
  readonly era: number;
}

let eras = 0;

const worldOf = (remote: Remote): World => ({ remote, era: ++eras });

export const newWorld = (): World => worldOf(memoryRemote());

/** Copies the present state of a world: a backup of it, or a fork. */
export async function copyOf({ remote }: World): Promise<World> {
  const copy = memoryRemote();
  for (const [name, bytes] of await objectsOf(remote)) {
    if (!name.startsWith('h/')) await copy.put(name, bytes);
    else await copy.swapHead(decodeURIComponent(name.slice(2)), undefined, bytes);
  }
  return worldOf(copy);
}

/** Gives each of two branches the head of the other. */
export async function exchange({ remote }: World, one: string, other: string): Promise<void> {
  const heads = [await remote.readHead(one), await remote.readHead(other)];
  if (heads.includes(undefined)) return;
  for (const [nth, branch] of [one, other].entries()) {
    const { token } = heads[nth] as { token: string };
    await remote.swapHead(branch, token, (heads[1 - nth] as { bytes: Uint8Array }).bytes);
  }
}

/** The remote as one device sees it. */
export class View {
  world: World;
  /** Whether the next swap gets an answer as if it had been made. */
  isLying = false;

  constructor(world: World) {
    this.world = world;
  }

  readonly remote: Remote = {
    readHead: async (branch, options) => this.#shown(await this.#real.readHead(branch, options)),
    readHeadSince: async (branch, token, options) => {
      const own = this.#own(token);
      if (own === undefined) return this.remote.readHead(branch, options);
      const found = await this.#real.readHeadSince(branch, own, options);
      return found === 'unchanged' ? found : this.#shown(found);
    },
    swapHead: async (branch, token, bytes, options): Promise<Swap> => {
      if (this.isLying) {
        this.isLying = false;
        return { state: 'swapped', token: '0:"a login page"' };
      }
      const own = token === undefined ? undefined : (this.#own(token) ?? '"none"');
      const swap = await this.#real.swapHead(branch, own, bytes, options);
      if (swap.state === 'swapped') return { ...swap, token: this.#tokenOf(swap.token) };
      return swap.state === 'lost' ? { ...swap, head: this.#shown(swap.head) } : swap;
    },
    get: (...call) => this.#real.get(...call),
    put: (...call) => this.#real.put(...call),
    remove: (...call) => this.#real.remove(...call),
    list: (...call) => this.#real.list(...call),
  };

  get #real(): Remote {
    return this.world.remote;
  }

  #tokenOf(token: string): string {
    return `${this.world.era}:${token}`;
  }

  /** Returns the token as this world gave it; `undefined` for a token of another world. */
  #own(token: string): string | undefined {
    const [era, ...rest] = token.split(':');
    return Number(era) === this.world.era ? rest.join(':') : undefined;
  }

  #shown<Found extends { readonly token: string } | undefined>(head: Found): Found {
    return (head && { ...head, token: this.#tokenOf(head.token) }) as Found;
  }
}

/** A remote in memory: for tests, and for several stores of one page. */

import { checkSignal } from '../../../base/abort-signal.js';
import { fn, type OptionsOf, optionsOf } from '../../../base/check-options.js';
import { checkedRemote } from '../checked-remote.js';
import { headName } from '../object-names.js';
import type { Remote, RemoteHead, RemoteOptions } from '../remote.js';
import { goneFault } from '../remote-faults.js';

interface StoredObject {
  readonly bytes: Uint8Array;
  readonly modifiedMs: number;
  readonly token: string;
}

const MEMORY_REMOTE_OPTIONS = { now: fn<() => number>() };

/**
 * Returns a remote that lives as long as this object; all users of the object share it. `now` is its clock, in
 * milliseconds; `Date.now` by default.
 */
export function memoryRemote(options: OptionsOf<typeof MEMORY_REMOTE_OPTIONS> = {}): Remote {
  const { now = Date.now } = optionsOf('memoryRemote', options, MEMORY_REMOTE_OPTIONS);
  const objects = new Map<string, StoredObject>();
  let writes = 0;

  /** Lets each call take effect in a later turn, as with any other remote. */
  async function begin(options: RemoteOptions | undefined): Promise<void> {
    checkSignal(options?.signal);
    await Promise.resolve();
    checkSignal(options?.signal);
  }
  function store(name: string, bytes: Uint8Array): string {
    writes++;
    const token = `"${writes}"`;
    objects.set(name, { bytes: bytes.slice(), modifiedMs: now(), token });
    return token;
  }
  function headAt(name: string): RemoteHead | undefined {
    const found = objects.get(name);
    return found && { ...found, bytes: found.bytes.slice() };
  }

  return checkedRemote('memoryRemote', {
    async readHead(branch, options) {
      const name = headName(branch);
      await begin(options);
      return headAt(name);
    },
    async readHeadSince(branch, token, options) {
      const name = headName(branch);
      await begin(options);
      return objects.get(name)?.token === token ? 'unchanged' : headAt(name);
    },
    async swapHead(branch, token, bytes, options) {
      const name = headName(branch);
      await begin(options);
      const head = headAt(name);
      if (token !== undefined && head === undefined) throw goneFault(name);
      if (head?.token !== token) return { state: 'lost', head };
      return { state: 'swapped', token: store(name, bytes) };
    },
    async get(name, range, options) {
      await begin(options);
      return objects.get(name)?.bytes.slice(range?.from, range?.to);
    },
    async put(name, bytes, options) {
      await begin(options);
      if (name === 'hedgerow' && objects.has(name)) return 'exists';
      store(name, bytes);
      return 'put';
    },
    async remove(names, options) {
      await begin(options);
      for (const name of names) objects.delete(name);
    },
    async list(prefix, options) {
      await begin(options);
      const found = [...objects].filter(([name]) => name.startsWith(prefix));
      return found.map(([name, { bytes, modifiedMs }]) => ({
        name,
        length: bytes.length,
        modifiedMs,
      }));
    },
  });
}

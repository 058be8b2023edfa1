/**
 * Makes instances of the core trap: a call of an export first calls another one with an argument that makes it panic.
 * The trap and the state that it leaves are real. Import it before the store is opened; it watches all instances of its
 * test file.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

type Call = (...args: unknown[]) => unknown;

/** No view has this number: the core indexes out of bounds. */
const NO_VIEW = 0xffff_ffff;

const instantiate = WebAssembly.instantiate as (
  module: WebAssembly.Module,
  imports: WebAssembly.Imports,
) => Promise<WebAssembly.Instance>;
/** The instances, by the exports that the wrapper sees. */
const cores = new WeakMap<object, WebAssembly.Instance>();
let instances: WeakRef<WebAssembly.Instance>[] = [];
let callsLeft = Number.POSITIVE_INFINITY;
let only: string | undefined;

/** Number of traps for each export. */
export const trapped = new Map<string, number>();

/** Instances started so far. */
export const started = () => instances.length;

/** Makes the core trap at the `count`-th call from now, of the export `name` or of any export. */
export function trapIn(count: number, name?: string): void {
  callsLeft = count;
  only = name;
}

/** Returns whether the requested trap is still to come. */
export const isPending = () => callsLeft !== Number.POSITIVE_INFINITY;

function watchedCall(instance: WebAssembly.Instance, name: string, call: Call): Call {
  return (...args) => {
    if ((only === undefined || only === name) && --callsLeft === 0) {
      callsLeft = Number.POSITIVE_INFINITY;
      trapped.set(name, (trapped.get(name) ?? 0) + 1);
      (instance.exports.close_view as Call)(NO_VIEW);
    }
    return call(...args);
  };
}

Object.assign(WebAssembly, {
  instantiate: async (module: WebAssembly.Module, imports: WebAssembly.Imports) => {
    // The later part of a core is linked with that core, and watched with it.
    const first = cores.get(imports?.first ?? {});
    const linked = first === undefined ? imports : { ...imports, first: first.exports };
    const instance = await instantiate(module, linked);
    const isCore = instance.exports?.add_table !== undefined;
    if (isCore) instances.push(new WeakRef(instance));
    const core = isCore ? instance : first;
    // Node has WebAssembly modules of its own.
    if (core === undefined) return instance;
    const members = Object.entries(instance.exports).map(([name, member]) => [
      name,
      typeof member === 'function' ? watchedCall(core, name, member as Call) : member,
    ]);
    const exports = Object.fromEntries(members);
    if (isCore) cores.set(exports, instance);
    return { exports };
  },
});

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Returns how many instances still hold their memory after a garbage collection. */
export async function alive(): Promise<number> {
  for (let round = 0; round < 3; round++) {
    // A WeakRef keeps its target alive until the end of the turn that read it.
    await new Promise((resolve) => setTimeout(resolve, 0));
    collectGarbage();
  }
  return instances.filter((instance) => instance.deref() !== undefined).length;
}

/** Resets the counts. */
export function forget(): void {
  instances = [];
}

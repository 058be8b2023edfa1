/**
 * Makes a run depend only on a seed: the clock, the timers, `Math.random` and the start of an instance, whose time the
 * engine would choose. Immediates keep the order of their calls.
 */
import type { Random } from '../random.js';

const immediately = globalThis.setImmediate;
const real = {
  now: performance.now,
  random: Math.random,
  timer: globalThis.setTimeout,
  instantiate: WebAssembly.instantiate,
};

let readings = 0;

type Call = (...args: unknown[]) => unknown;

/** Instances of runs that are over: `start` resets them, at a tenth of the cost of new ones. */
const idle: WebAssembly.Instance[] = [];
const MAX_IDLE_BYTES = 8 << 20;

/** Whether it is the core: Node has WebAssembly modules of its own. */
function isCore(module: unknown): boolean {
  if (!(module instanceof WebAssembly.Module)) return false;
  return WebAssembly.Module.exports(module).some(({ name }) => name === 'add_table');
}

/** Lends instances for one run; calls of them after its end have no effect. */
class Lender {
  readonly #lent: WebAssembly.Instance[] = [];
  #isOver = false;

  lend(module: WebAssembly.Module, imports: WebAssembly.Imports) {
    const instance = idle.pop() ?? new WebAssembly.Instance(module, imports);
    this.#lent.push(instance);
    const members = Object.entries(instance.exports).map(([name, member]) => {
      if (typeof member !== 'function') return [name, member];
      const call = member as Call;
      return [name, (...args: unknown[]) => (this.#isOver ? 0 : call(...args))];
    });
    return { exports: Object.fromEntries(members) };
  }

  end(): void {
    this.#isOver = true;
    for (const instance of this.#lent) {
      const { buffer } = instance.exports.memory as WebAssembly.Memory;
      if (buffer.byteLength <= MAX_IDLE_BYTES) idle.push(instance);
    }
  }
}

/**
 * Takes the clock away from the platform; returns a function that gives it back. Timers of a dead process do not ring:
 * `life` names the living one.
 */
export function virtualTime(from: Random, life: () => unknown = () => 0): () => void {
  let nowMs = 0;
  const lender = new Lender();
  Object.assign(performance, {
    now: () => {
      readings += 1;
      nowMs += from.next() < 0.1 ? 5 : 0.02;
      return nowMs;
    },
  });
  Object.assign(Math, { random: () => from.next() });
  const setTimeout = (run: () => void) => {
    const begun = life();
    return immediately(() => {
      if (life() === begun) run();
    });
  };
  Object.assign(globalThis, { setTimeout });
  Object.assign(WebAssembly, {
    instantiate: async (module: WebAssembly.Module, imports: WebAssembly.Imports) =>
      isCore(module) ? lender.lend(module, imports) : real.instantiate(module, imports),
  });
  return () => {
    lender.end();
    Object.assign(performance, { now: real.now });
    Object.assign(Math, { random: real.random });
    Object.assign(globalThis, { setTimeout: real.timer });
    Object.assign(WebAssembly, { instantiate: real.instantiate });
  };
}

/** One turn of the event loop. */
export function tick(): Promise<void> {
  return new Promise((resolve) => {
    immediately(resolve);
  });
}

/** Resolves when no code has read the clock for some turns: all work has ended. */
export async function quiet(): Promise<void> {
  for (let still = 0; still < 3; still++) {
    const before = readings;
    await tick();
    if (readings !== before) still = -1;
  }
}

/** As `call`, but an error if it takes so long in real time. */
export async function inRealTime<T>(ms: number, call: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = real.timer(() => reject(new Error(`not settled after ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([call, late]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Makes a run depend on nothing but a seed: the clock, the timers, `Math.random` and the start of
 * an instance, which else comes when the engine likes. The order of immediates is that of calls.
 */
import type { Random } from './random.js';

const immediately = globalThis.setImmediate;
const real = {
  now: performance.now,
  random: Math.random,
  timer: globalThis.setTimeout,
  instantiate: WebAssembly.instantiate,
};

let readings = 0;

/** Takes the clock away from the platform; returns how to give it back. */
export function virtualTime(from: Random): () => void {
  let nowMs = 0;
  Object.assign(performance, {
    now: () => {
      readings += 1;
      nowMs += from.next() < 0.1 ? 5 : 0.02;
      return nowMs;
    },
  });
  Object.assign(Math, { random: () => from.next() });
  Object.assign(globalThis, { setTimeout: (run: () => void) => immediately(run) });
  Object.assign(WebAssembly, {
    instantiate: async (module: WebAssembly.Module, imports: WebAssembly.Imports) =>
      new WebAssembly.Instance(module, imports),
  });
  return () => {
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

/** Resolves when nobody has looked at the clock for some turns: nothing is at work. */
export async function quiet(): Promise<void> {
  for (let still = 0; still < 3; still++) {
    const before = readings;
    await tick();
    if (readings !== before) still = -1;
  }
}

/** As `call`, or an error when it takes so long in real time. */
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

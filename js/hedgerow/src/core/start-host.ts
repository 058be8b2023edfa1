/** Starts the core at once, without a reader before it. */
import type { SegmentStore } from '../storage/segment-store.js';
import { Engine } from './engine.js';
import { Host } from './operation-host.js';

/** Starts an engine: see `Engine.later`. */
export async function startEngine(cacheBytes?: number): Promise<Engine> {
  const engine = Engine.later(cacheBytes);
  await engine.restart();
  engine.ready();
  return engine;
}

/** Makes a host with its own core and without storage, for work on bytes in memory. */
export async function startHost(cacheBytes: number, sliceMs: number): Promise<Host> {
  return new Host(await startEngine(cacheBytes), {} as SegmentStore, sliceMs);
}

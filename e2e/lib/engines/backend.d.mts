import type { Engine } from './index.mjs';

/** Returns `leveldb`, `sqlite`, both joined by `+`, or `none`. */
export function backendOf(profileDir: string): Promise<string>;
export function refuseOtherBackend(engine: Engine, profileDir: string): Promise<void>;

// Exports the tortures that `tests/torture.spec.ts` runs.

export { crashPages } from './crash.mjs';
export { loseConnections } from './disconnect.mjs';
export { fillEngine } from './full.mjs';
export { killEngine } from './kill.mjs';
export { fillDisks } from './quota.mjs';
export { killSyncEngine } from './sync/kill-sync.mjs';

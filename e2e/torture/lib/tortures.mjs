// What `tests/torture.spec.ts` runs of the tortures.

export { makeProfiles } from './chromium.mjs';
export { crashPages } from './crash.mjs';
export { loseConnections } from './disconnect.mjs';
export { fillEngine } from './full.mjs';
export { killBrowsers } from './kill.mjs';
export { fillDisks } from './quota.mjs';

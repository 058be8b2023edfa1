/** All suites, in the order in which they run. */
import type { Suite } from '../bench-case.js';
import { AT } from './at.js';
import { BYTES } from './bytes.js';
import { COLD } from './cold.js';
import { ENCRYPTION } from './encryption.js';
import { FRAMES, FRAMES_SHUFFLED } from './frames.js';
import { INDEX_MADE, INDEX_READS, INDEXES } from './indexes.js';
import { LIFE } from './life.js';
import { LINES } from './lines.js';
import { LIVE } from './live.js';
import { LIVE_LOAD } from './live-load.js';
import { LOAD_SHUFFLED, LOAD_WIDE, LOAD_WIDE_SHUFFLED } from './loads.js';
import { MEMORY } from './memory.js';
import { MIGRATION } from './migration.js';
import { MUTATORS } from './mutators.js';
import { OPENING } from './opening.js';
import { PATCH } from './patch.js';
import { SLICING } from './slicing.js';
import { START } from './start.js';
import { SUM_LOAD, SUM_PROOFS, SUMS } from './sums.js';
import { SYNC } from './sync.js';
import { SYNC_COUCH, SYNC_REPLICACHE } from './sync-peers.js';
import { SYSBENCH } from './sysbench.js';
import { TABLES } from './tables.js';
import { WATCH } from './watch.js';
import { WORKER } from './worker.js';
import { WRITER } from './writer.js';

export const SUITES: readonly Suite[] = [
  LIFE,
  START,
  COLD,
  OPENING,
  AT,
  LOAD_SHUFFLED,
  LOAD_WIDE,
  LOAD_WIDE_SHUFFLED,
  BYTES,
  WRITER,
  PATCH,
  INDEXES,
  INDEX_MADE,
  INDEX_READS,
  FRAMES,
  FRAMES_SHUFFLED,
  MEMORY,
  SLICING,
  ENCRYPTION,
  WATCH,
  TABLES,
  MIGRATION,
  LIVE,
  LIVE_LOAD,
  WORKER,
  SYSBENCH,
  LINES,
  SUMS,
  SUM_LOAD,
  SUM_PROOFS,
  SYNC,
  SYNC_REPLICACHE,
  SYNC_COUCH,
  MUTATORS,
];

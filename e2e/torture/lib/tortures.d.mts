import type { Engine } from '../../lib/engines/index.mjs';

interface Common {
  readonly origin: string;
}

interface Killing extends Common {
  readonly cycles: number;
  readonly seed: number;
  readonly rows: number;
  readonly durability: 'relaxed' | 'strict';
}

/** The results of kills and crashes. */
export interface Tally {
  readonly engine: string;
  readonly version: string;
  readonly cycles: number;
  readonly phases: Readonly<Record<string, number>>;
  readonly midCommit: number;
  readonly midCollection: number;
  readonly acknowledged: number;
  readonly lost: { readonly hedgerow: number; readonly control: number };
  readonly lostMore: number;
  readonly torn: { readonly hedgerow: number; readonly control: number };
  readonly wiped: readonly string[];
  readonly losses: readonly string[];
  /** Repeated checks: the core had trapped. */
  readonly traps: readonly string[];
  readonly blamed: readonly string[];
}

export function killEngine(
  engine: Engine,
  options: Killing & { readonly first?: number; readonly atOnce?: number },
): Promise<Tally>;
export function crashPages(engine: Engine, options: Killing): Promise<Tally>;

/** The results of kills during syncs. */
export interface SyncTally {
  readonly engine: string;
  readonly version: string;
  /** Completed rounds, by kind. */
  readonly rounds: Readonly<Record<string, number>>;
  readonly kills: number;
  readonly held: number;
  readonly midSync: number;
  readonly during: Readonly<Record<string, number>>;
  readonly requests: Readonly<Record<string, number>>;
  readonly edits: { readonly page: number; readonly other: number };
  readonly conflicts: number;
  readonly lostByControl: number;
  /** Repeated checks: the core had trapped. */
  readonly traps: readonly string[];
  readonly wiped: readonly string[];
  readonly problems: readonly string[];
}

export function killSyncEngine(
  engine: Engine,
  options: Common & { readonly seed: number; readonly kills: number },
): Promise<SyncTally>;

export function fillDisks(
  engine: Engine,
  options: Common & { readonly points: number },
): Promise<{
  readonly points: number;
  /** The number of these with room for all of the workload. */
  readonly roomy: number;
  readonly failedIn: Readonly<Record<string, number>>;
  readonly places: number;
  readonly problems: readonly string[];
}>;

export function loseConnections(
  engine: Engine,
  options: Common & { readonly stride: number },
): Promise<{
  readonly runs: number;
  readonly steps: number;
  readonly codes: Readonly<Record<string, number>>;
  readonly problems: readonly string[];
}>;

export function fillEngine(
  engine: Engine,
  options: Common & { readonly seed: number; readonly runs: number },
): Promise<{
  readonly version: string;
  readonly runs: number;
  readonly acknowledged: number;
  readonly refused: number;
  readonly made: number;
  readonly slowestMs: number;
  readonly emptied: Readonly<Record<string, number>>;
  readonly problems: readonly string[];
}>;

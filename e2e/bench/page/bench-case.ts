/** What a benchmark is made of; `README.md` tells how to add one. */

/** What all samples of a run share. */
export interface Setting {
  /** Rows in a full store. */
  readonly rows: number;
  /** A short run, to see that everything works. */
  readonly quick: boolean;
}

/** One measurement. */
export interface Sample {
  /** In the unit of the case. */
  readonly value: number;
  /** Further figures, with their units in their names (`puts, ms`). */
  readonly details?: Readonly<Record<string, number>>;
}

/** What a contestant is to the report: ratios are taken to the one of kind `ours`. */
export type Kind = 'ours' | 'variant' | 'peer' | 'floor';

/** One of those compared. */
export interface Contestant {
  readonly name: string;
  readonly kind: Kind;
  /** Fills what is measured, once, in a page of its own; only for a case that is `stored`. */
  readonly prepare?: (setting: Setting) => Promise<void>;
  /** Takes one measurement in a page that was loaded for it. */
  readonly sample: (setting: Setting) => Promise<Sample>;
}

/** Contestants doing the same job. */
export interface BenchCase {
  readonly name: string;
  readonly title: string;
  readonly unit: 'ms' | 'per second';
  /** Whether databases outlive a sample: they are filled once, and only read. */
  readonly stored: boolean;
  readonly contestants: readonly Contestant[];
}

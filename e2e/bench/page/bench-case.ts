/** The parts of a benchmark; `README.md` describes how to add one. */

/** The values that all samples of a suite share. */
export interface Setting {
  /** Rows in a full store. */
  readonly rows: number;
  /** Whether this is a short run, which only checks that everything works. */
  readonly quick: boolean;
  /** The names of the requested cases: an act may leave out others. */
  readonly cases: readonly string[];
}

export function wants({ cases }: Setting, ...names: readonly string[]): boolean {
  return names.some((name) => cases.includes(name));
}

/** One measurement. */
export interface Sample {
  /** In the unit of the case. */
  readonly value: number;
  /** Further figures, with their units in their names (`puts, ms`). */
  readonly details?: Readonly<Record<string, number>>;
  /** The same job in other figures, each in its own row of the table. */
  readonly also?: Readonly<Record<string, number>>;
}

/** Measurements by the names of their cases. */
export type Samples = Record<string, Sample>;

/** The role of a contestant in the report: ratios are relative to the one of kind `ours`. */
export type Kind = 'ours' | 'variant' | 'peer' | 'floor';

/** Takes measurements in a page that was loaded for it. */
export type Act = (setting: Setting) => Promise<Samples>;

/** A side of the comparison. */
export interface Contestant {
  readonly name: string;
  readonly kind: Kind;
  /** A note for readers of its figures. */
  readonly note?: string;
  /** The reason for a missing figure, by the name of the case. */
  readonly cannot?: Readonly<Record<string, string>>;
  /** The most rows with which it takes part, and the reason. */
  readonly most?: { readonly rows: number; readonly reason: string };
  /** The reason why it takes no part in this browser. */
  readonly missing?: string;
  /** Runs one page after another; databases stay in between. */
  readonly acts: readonly Act[];
}

export interface Case {
  readonly name: string;
  readonly title: string;
  readonly unit: 'ms' | 'per second' | 'MiB';
}

/** Cases that are measured together, on one database each. */
export interface Suite {
  readonly name: string;
  /** The name of its family, which also selects it. */
  readonly family?: string;
  /** The most rows that it takes. */
  readonly mostRows?: number;
  readonly cases: readonly Case[];
  readonly contestants: readonly Contestant[];
}

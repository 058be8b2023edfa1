/** What a benchmark is made of; `README.md` tells how to add to it. */

/** What all samples of a suite share. */
export interface Setting {
  /** Rows in a full store. */
  readonly rows: number;
  /** A short run, to see that everything works. */
  readonly quick: boolean;
  /** The cases that are wanted, by name: others may be left out of an act. */
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
  /** The same job told in another way, each a row of its own in the table. */
  readonly also?: Readonly<Record<string, number>>;
}

/** Measurements by the names of their cases. */
export type Samples = Record<string, Sample>;

/** What a contestant is to the report: ratios are taken to the one of kind `ours`. */
export type Kind = 'ours' | 'variant' | 'peer' | 'floor';

/** Takes measurements in a page that was loaded for it. */
export type Act = (setting: Setting) => Promise<Samples>;

/** One of those compared. */
export interface Contestant {
  readonly name: string;
  readonly kind: Kind;
  /** What a reader of its figures must know. */
  readonly note?: string;
  /** Why it has no figure, by the name of the case. */
  readonly cannot?: Readonly<Record<string, string>>;
  /** With more rows than this it does not take part, for a reason. */
  readonly most?: { readonly rows: number; readonly reason: string };
  /** Why it takes no part in this browser. */
  readonly missing?: string;
  /** One page after another, databases staying in between. */
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
  /** Also runs those of its family. */
  readonly family?: string;
  /** Of more rows it takes this many. */
  readonly mostRows?: number;
  readonly cases: readonly Case[];
  readonly contestants: readonly Contestant[];
}

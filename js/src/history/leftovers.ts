/**
 * Whether there may be indexes and sum trees on a branch that nobody named when the store was opened. They are
 * dropped once, by a commit of their branch: what comes later another handle wants.
 */
export interface Leftovers {
  indexes: boolean;
  sums: boolean;
}

/** Of a branch that was just opened, or made to stand at what others have made. */
export const unknownLeftovers = (): Leftovers => ({ indexes: true, sums: true });

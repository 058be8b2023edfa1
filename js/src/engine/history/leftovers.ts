/**
 * Whether a branch may have indexes and sum trees that its handle does not name. They are dropped once, by a commit
 * of the branch: what appears later was made by another handle, which wants it.
 */
export interface Leftovers {
  indexes: boolean;
  sums: boolean;
}

/** For a branch that was just opened, or moved to a commit of another handle. */
export const unknownLeftovers = (): Leftovers => ({ indexes: true, sums: true });

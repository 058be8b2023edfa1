/**
 * Whether a branch may have indexes and sum trees that its handle does not name. One commit of the branch drops them:
 * another handle made the trees that appear later, and wants them.
 */
export interface UndeclaredTrees {
  indexes: boolean;
  sums: boolean;
}

/** The leftovers of a branch that was just opened, or moved to a commit of another handle. */
export const possibleUndeclaredTrees = (): UndeclaredTrees => ({ indexes: true, sums: true });

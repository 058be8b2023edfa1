// Tracks the edits of two devices that sync: no edit is lost or there twice. An edit names the one that it has
// replaced, which its author has seen.

export class Edits {
  #all = new Map();
  /** For each edit, the edits whose authors have seen it. */
  #after = new Map();
  /** Both sides of all reported conflicts. */
  #conflicts = [];

  /** Notes that such an edit may exist from now on. A repeated one may have seen another edit. */
  begun(id, { key, before, isDeletion = false, by }) {
    // A repeated one follows the edits begun since then.
    this.#all.delete(id);
    this.#all.set(id, { id, key, before, isDeletion, by, isAcknowledged: false });
    if (before === undefined) return;
    const after = this.#after.get(before) ?? new Set();
    this.#after.set(before, after.add(id));
  }

  acknowledged(id) {
    this.#all.get(id).isAcknowledged = true;
  }

  /** Counts the acknowledged edits of a device. */
  count(by) {
    return [...this.#all.values()].filter((edit) => edit.by === by && edit.isAcknowledged).length;
  }

  /** Adds the current log of conflicts of a device; ids, or `null` for a deletion. */
  told(conflicts) {
    this.#conflicts.push(...conflicts);
  }

  /**
   * Returns the acknowledged edits of `by` that are not in `places`, in a log, or replaced by an author who has seen
   * them.
   */
  lost(places, by) {
    const found = { places: new Map(places), logged: new Set(this.#conflicts.flat()), by };
    return [...this.#all.values()]
      .filter((edit) => edit.isAcknowledged && !edit.isDeletion)
      .filter((edit) => by === undefined || edit.by === by)
      .filter((edit) => !this.#isThere(edit, found))
      .map(({ id }) => id);
  }

  #isThere(edit, found) {
    const { id, key, isDeletion } = edit;
    if (found.places.get(key) === id || found.logged.has(id)) return true;
    if (isDeletion && !found.places.has(key)) return true;
    const after = isDeletion ? this.#filled(edit) : this.#replacing(id);
    return after.some((next) => {
      // Commits known on the checked device have their own check.
      const isKnown = next.isAcknowledged && (found.by === undefined || next.by === found.by);
      return isKnown || this.#isThere(next, found);
    });
  }

  /** Returns the edits that have seen one; for a repeated edit only its last try counts. */
  #replacing(id) {
    return [...(this.#after.get(id) ?? [])]
      .map((next) => this.#all.get(next))
      .filter(({ before }) => before === id);
  }

  /** Returns puts after a deletion, whose authors saw no row: they have no other way to name the deletion. */
  #filled({ id, key }) {
    const all = [...this.#all.values()];
    return all
      .slice(all.findIndex((edit) => edit.id === id) + 1)
      .filter((edit) => edit.key === key && edit.before === undefined && !edit.isDeletion);
  }

  /** Lists all edits of the key of one, in the order in which they were begun, for messages. */
  storyOf(id) {
    const { key } = this.#all.get(id);
    const told = (edit) =>
      [
        edit.id,
        edit.isDeletion && 'deletes',
        edit.before && `after ${edit.before}`,
        !edit.isAcknowledged && 'not acknowledged',
      ]
        .filter(Boolean)
        .join(' ');
    const all = [...this.#all.values()].filter((edit) => edit.key === key);
    return `${id} of ${key} (${all.map(told).join('; ')})`;
  }

  /** Lists edits that stand though they were replaced, and conflicts between an edit and one that it has seen. */
  doubled(places) {
    const back = places
      .filter(([, id]) => this.#replacing(id).some(({ isAcknowledged }) => isAcknowledged))
      .map(([key, id]) => `${id} stands at ${key}, and was replaced`);
    const own = this.#conflicts
      .filter(([one, other]) => this.#hasSeen(one, other) || this.#hasSeen(other, one))
      .map(([one, other]) => `${one} and ${other} are no conflict: one has seen the other`);
    return [...back, ...new Set(own)];
  }

  #hasSeen(id, earlier) {
    if (id === null || earlier === null) return false;
    for (let one = this.#all.get(id); one?.before !== undefined; one = this.#all.get(one.before)) {
      if (one.before === earlier) return true;
    }
    return false;
  }
}

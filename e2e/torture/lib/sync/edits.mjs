// The edits of two devices that sync: none is lost, none is there twice. An edit knows the one that it has replaced, which
// whoever made it has seen.

export class Edits {
  #all = new Map();
  /** The edits that have seen one. */
  #after = new Map();
  /** Both sides of all conflicts that were told. */
  #conflicts = [];

  /** There may be such an edit from now on. One that is tried again may have seen another one. */
  begun(id, { key, before, isDeletion = false, by }) {
    // One that is tried again comes after what was begun meanwhile.
    this.#all.delete(id);
    this.#all.set(id, { id, key, before, isDeletion, by, isAcknowledged: false });
    if (before === undefined) return;
    const after = this.#after.get(before) ?? new Set();
    this.#after.set(before, after.add(id));
  }

  acknowledged(id) {
    this.#all.get(id).isAcknowledged = true;
  }

  /** How many edits of a device were acknowledged. */
  count(by) {
    return [...this.#all.values()].filter((edit) => edit.by === by && edit.isAcknowledged).length;
  }

  /** The log of conflicts of a device, as it is now; ids, or `null` for a deletion. */
  told(conflicts) {
    this.#conflicts.push(...conflicts);
  }

  /** Those that were acknowledged to `by`, and are not in `places`, in a log, or replaced by who has seen them. */
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
      // Of what is known to be committed on the device that is looked at, there is a look of its own.
      const isKnown = next.isAcknowledged && (found.by === undefined || next.by === found.by);
      return isKnown || this.#isThere(next, found);
    });
  }

  /** The edits that have seen one; of those that were tried again, what they saw last. */
  #replacing(id) {
    return [...(this.#after.get(id) ?? [])]
      .map((next) => this.#all.get(next))
      .filter(({ before }) => before === id);
  }

  /** What was put where a deletion had left nothing: it has no other way to tell that it has seen one. */
  #filled({ id, key }) {
    const all = [...this.#all.values()];
    return all
      .slice(all.findIndex((edit) => edit.id === id) + 1)
      .filter((edit) => edit.key === key && edit.before === undefined && !edit.isDeletion);
  }

  /** All edits of the key of one, in the order in which they were begun, for messages. */
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

  /** Edits that stand though they were replaced, and conflicts between an edit and one that it has seen. */
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

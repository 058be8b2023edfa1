// What kills in the midst of syncs came to.

const add = (counts, name, more = 1) => {
  counts[name] = (counts[name] ?? 0) + more;
};

export class SyncTally {
  engine;
  version;
  /** Rounds that came to their end, by what they were about. */
  rounds = {};
  kills = 0;
  /** Kills by what the page did then: a call of the link, `edit`, or `nothing`. */
  during = {};
  /** Kills by a request that was under way then, and whether it had taken effect; `none` if there was none. */
  requests = {};
  /** Kills while a request was held, and those while a call of the link or a request was under way. */
  held = 0;
  midSync = 0;
  /** Edits that were acknowledged. */
  edits = { page: 0, other: 0 };
  conflicts = 0;
  /** Edits that the control has lost: the browser is to blame. */
  lostByControl = 0;
  /** Where the browser had deleted the whole origin. */
  wiped = [];
  /** Looks that were made again, since the core had trapped. */
  traps = [];
  problems = [];

  constructor({ name, version }) {
    this.engine = name;
    this.version = version;
  }

  /** Notes what was going on at a kill. */
  killed({ current, underWay, isHeld }) {
    this.kills += 1;
    add(this.during, current ?? 'nothing');
    const kinds = underWay.map(({ kind, isDone }) => `${kind}${isDone ? ' (done)' : ''}`);
    for (const kind of new Set(kinds.length === 0 ? ['none'] : kinds)) add(this.requests, kind);
    if (isHeld) this.held += 1;
    const isInCall = current !== undefined && current !== 'edit';
    if (isInCall || underWay.length > 0) this.midSync += 1;
  }

  /** A round has ended as it must. */
  ended(kind, { edits, conflicts }) {
    add(this.rounds, kind);
    this.edits.page += edits.count('page');
    this.edits.other += edits.count('other');
    this.conflicts += conflicts;
  }

  failed(where, problem) {
    this.problems.push(`${where}: ${problem}`);
  }

  trapped(where, { message, stack }) {
    this.traps.push(`${where}: ${message} ${stack}`);
  }

  /** A trap is a defect, even if nothing is lost by it. */
  get isKept() {
    return this.problems.length === 0 && this.traps.length === 0;
  }
}

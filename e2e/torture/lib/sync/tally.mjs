// Counts the results of kills during syncs.

const add = (counts, name, more = 1) => {
  counts[name] = (counts[name] ?? 0) + more;
};

export class SyncTally {
  engine;
  version;
  /** Completed rounds, by kind. */
  rounds = {};
  kills = 0;
  /** Kills by what the page did then: a call of the link, `edit`, or `nothing`. */
  during = {};
  /** Kills by a request that was under way then, and whether it had taken effect; `none` if there was no request. */
  requests = {};
  /** Kills while a request was held, and kills during a call of the link or a request. */
  held = 0;
  midSync = 0;
  /** Acknowledged edits. */
  edits = { page: 0, other: 0 };
  conflicts = 0;
  /** Edits that the control has lost: the browser is to blame. */
  lostByControl = 0;
  /** Rounds in which the browser had deleted the whole origin. */
  wiped = [];
  /** Repeated checks: the core had trapped. */
  traps = [];
  problems = [];

  constructor({ name, version }) {
    this.engine = name;
    this.version = version;
  }

  /** Notes the work under way at a kill. */
  killed({ current, underWay, isHeld }) {
    this.kills += 1;
    add(this.during, current ?? 'nothing');
    const kinds = underWay.map(({ kind, isDone }) => `${kind}${isDone ? ' (done)' : ''}`);
    for (const kind of new Set(kinds.length === 0 ? ['none'] : kinds)) add(this.requests, kind);
    if (isHeld) this.held += 1;
    const isInCall = current !== undefined && current !== 'edit';
    if (isInCall || underWay.length > 0) this.midSync += 1;
  }

  /** Notes a round that has ended well. */
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

  /** A trap is a defect, even if it loses no edit. */
  get isKept() {
    return this.problems.length === 0 && this.traps.length === 0;
  }
}

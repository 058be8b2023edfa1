// Shares code between killed browsers and crashed renderers: phases, random moments, and the results of the checks.

import { below } from './random.mjs';

/** The latest kill after the start of a phase, in milliseconds. */
const LONGEST_MS = { load: 500, change: 900, puts: 400, writers: 900, collect: 900 };

/** Returns the phases with kills, in turn. */
export function phasesFor(canCollect) {
  const phases = ['load', 'change', 'puts', 'writers'];
  return canCollect ? [...phases, 'collect'] : phases;
}

/** Plans the writes of a cycle, and the time of its kill. */
export function planOf(cycle, { random, phases, rows, durability }) {
  const phase = phases[cycle % phases.length];
  const seed = below(random, 2 ** 31);
  const delayMs = below(random, LONGEST_MS[phase]);
  const name = `cycle ${cycle} (${phase}, ${delayMs} ms)`;
  // A load must be long enough for a kill in its middle.
  const plan = { phase, seed, durability, rows: phase === 'load' ? 3 * rows : rows };
  return { name, delayMs, plan: { ...plan, store: `cycle-${cycle}` } };
}

/** Counts of one kind of torture. */
export class Tally {
  engine;
  version;
  cycles = 0;
  phases = {};
  /** Kills during a commit, and during a collection. */
  midCommit = 0;
  midCollection = 0;
  debris = 0;
  acknowledged = 0;
  lost = { hedgerow: 0, control: 0 };
  lostMore = 0;
  torn = { hedgerow: 0, control: 0 };
  /** Cycles after which both databases were empty though both had acknowledged commits. */
  wiped = [];
  /** Cycles in which the browser refused to open a database at first. */
  refusals = [];
  /** Commits that were there without an acknowledgement. */
  unheard = 0;
  losses = [];
  problems = [];
  /** Repeated checks: the core had trapped. */
  traps = [];

  /** Starts the counts of a running browser. */
  constructor({ name, version }) {
    this.engine = name;
    this.version = version;
  }

  /** Notes the work under way at a kill. */
  killed({ phase }, reports) {
    this.cycles += 1;
    this.phases[phase] = (this.phases[phase] ?? 0) + 1;
    this.acknowledged += reports.commits;
    const lanes = Object.keys(reports.begun).filter((name) => name !== 'collect');
    if (lanes.some((lane) => reports.isUnderWay(lane))) this.midCommit += 1;
    if (reports.isUnderWay('collect')) this.midCollection += 1;
  }

  /** Notes the findings of a launch, and the commits acknowledged before it. */
  found(where, acknowledged, { places, problems, refusals }) {
    for (const problem of problems) this.problems.push(`${where}: ${problem}`);
    for (const refusal of refusals) this.refusals.push(`${where}: ${refusal}`);
    const isGone = (side) =>
      Object.values(places[side]).every((place) => place === 0) &&
      Object.values(acknowledged[side]).some((place) => place > 0);
    const gone = { hedgerow: isGone('hedgerow'), control: isGone('control') };
    if (gone.hedgerow && gone.control) {
      // The browser has wiped the origin, so neither side is to blame.
      this.wiped.push(where);
      return;
    }
    const lost = {};
    for (const side of ['hedgerow', 'control']) {
      lost[side] = 0;
      for (const [lane, place] of Object.entries(places[side])) {
        const least = acknowledged[side][lane] ?? 0;
        if (place === -1) {
          this.torn[side] += 1;
          this.problems.push(`${where}: ${side} is torn in ${lane}, at least ${least}`);
        } else if (place < least) {
          lost[side] += least - place;
          // If the control has lost as much, the browser is to blame.
          this.losses.push(`${where}: ${side} has ${place} of ${least} in ${lane}`);
        } else if (side === 'hedgerow') this.unheard += place - least;
      }
      this.lost[side] += lost[side];
    }
    this.lostMore += Math.max(0, lost.hedgerow - lost.control);
  }

  /** Notes a part of a cycle that hung or threw. */
  failed(where, cause) {
    this.problems.push(`${where}: ${told(cause)}`);
  }

  /** Notes a check that a trap of the core ended, and that was repeated. */
  trapped(where, cause) {
    this.traps.push(`${where}: ${told(cause)}`);
  }

  /** The problems outside the control. */
  get blamed() {
    return this.problems.filter((problem) => !/: control is torn/.test(problem));
  }

  /** Whether Hedgerow has kept its promises. A trap is a defect, even if it loses no commit. */
  get isKept() {
    const isWhole = this.lostMore === 0 && this.torn.hedgerow === 0;
    return isWhole && this.blamed.length === 0 && this.traps.length === 0;
  }
}

/** Returns the message of an error, and its cause with the stack. */
function told(error) {
  if (!(error instanceof Error)) return String(error);
  const { message, cause } = error;
  return cause === undefined ? message : `${message}: ${cause.message} ${cause.stack}`;
}

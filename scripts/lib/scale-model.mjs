// A model of many devices that sync by one bucket: when each polls, pushes, loses and waits, as in
// `js/hedgerow/src/sync/link/sync-loop.ts` and `push.ts`. No store and no network: only times and counts, by a seed.

/** Makes numbers from 0 up to 1 (mulberry32). */
function random(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Events in the order of their times: a binary heap. */
class Agenda {
  #times = [];
  #tasks = [];

  get length() {
    return this.#times.length;
  }

  get nextAt() {
    return this.#times[0];
  }

  add(at, task) {
    const [times, tasks] = [this.#times, this.#tasks];
    let nth = times.length;
    times.push(at);
    tasks.push(task);
    while (nth > 0) {
      const parent = (nth - 1) >> 1;
      if (times[parent] <= at) break;
      [times[nth], tasks[nth]] = [times[parent], tasks[parent]];
      nth = parent;
    }
    [times[nth], tasks[nth]] = [at, task];
  }

  take() {
    const [times, tasks] = [this.#times, this.#tasks];
    const first = [times[0], tasks[0]];
    const [at, task] = [times.pop(), tasks.pop()];
    const { length } = times;
    if (length === 0) return first;
    let nth = 0;
    for (;;) {
      let child = 2 * nth + 1;
      if (child >= length) break;
      if (child + 1 < length && times[child + 1] < times[child]) child += 1;
      if (times[child] >= at) break;
      [times[nth], tasks[nth]] = [times[child], tasks[child]];
      nth = child;
    }
    [times[nth], tasks[nth]] = [at, task];
    return first;
  }
}

// From js/hedgerow/src/sync/link/sync-loop.ts.
const FIRST_WAIT_MS = 2000;
const FIRST_RETRY_MS = 1000;
const MAX_RETRY_MS = 60_000;
const PAUSE_MS = 1000;
// From js/hedgerow/src/sync/link/push.ts.
const FIRST_RACE_MS = 20;
const MAX_RACE_MS = 2000;
const MAX_TRIES = 40;
// From js/hedgerow/src/sync/remote/swap-head-with-retries.ts.
const SLOWED_MS = 1000;
const MAX_REFUSED = 3;

/** The default inputs of a run. */
export const DEFAULTS = {
  seed: 1,
  /** Devices that have the app open. */
  open: 100,
  /** The devices among them that write. */
  writers: 100,
  /** Branches over which the devices are spread. */
  branches: 1,
  /** Between two bursts of edits of one writer, on average. */
  burstEveryMs: 300_000,
  minutes: 10,
  warmUpMinutes: 2,
  roundTripMs: 80,
  /** The least time between two swaps of one head; 429 answers an earlier swap. 0 for a store without a limit. */
  swapEveryMs: 1000,
  pollEveryMs: 60_000,
  /** Whether devices hear of each swap. */
  pokes: false,
  /** The number of open devices that are observed for latency. */
  observers: 50,
  // Bytes, measured by `npx vitest run sync-budget`: a head with ten rows of each of its pushes.
  headBytes: 4500,
  /** Headers of a request and its answer, or a 304. */
  wireBytes: 600,
  logBytes: 5500,
  pushesPerLog: 5,
  pushesPerCheckpoint: 48,
  /** A pack of the rows since the last checkpoint, and all packs every 16 checkpoints. */
  checkpointBytes: 40_000,
  storeBytes: 2_700_000,
};

class Branch {
  seq = 0;
  swappedAt = Number.NEGATIVE_INFINITY;
  devices = [];
  /** For each head, the device that pushed it, and the time of its oldest commit. */
  commits = [];
}

class Device {
  seen = 0;
  waitMs = FIRST_WAIT_MS;
  retryMs = FIRST_RETRY_MS;
  /** The refused swaps of this push. */
  refusals = 0;
  /** The times of the oldest commit that is not pushed, and of the commits on their way. */
  pendingAt = undefined;
  sendingAt = undefined;
  isBusy = false;
  /** Whether no event wakes it: the pause after each round, and the wait after a failure. */
  isResting = false;
  isPoked = false;
  /** Changes when earlier plans become void. */
  turn = 0;

  constructor(branch, isObserver) {
    this.branch = branch;
    this.isObserver = isObserver;
  }
}

class Model {
  #given;
  #chance;
  #agenda = new Agenda();
  #beginMs;
  #now = 0;
  counts = {
    ...{ bursts: 0, pushes: 0, swaps: 0, lost: 0, refused: 0, givenUp: 0 },
    ...{ polls: 0, unchanged: 0, reads: 0, puts: 0, sentBytes: 0, receivedBytes: 0 },
  };
  /** Times from a commit until it is pushed, and until another device has it. */
  pushedAfter = [];
  seenAfter = [];
  devices;

  constructor(given) {
    this.#given = given;
    this.#chance = random(given.seed);
    this.#beginMs = given.warmUpMinutes * 60_000;
    const branches = Array.from({ length: given.branches }, () => new Branch());
    this.devices = Array.from({ length: given.open }, (_, nth) => {
      const branch = branches[nth % given.branches];
      const device = new Device(branch, nth >= given.open - given.observers);
      branch.devices.push(device);
      return device;
    });
  }

  run() {
    const { writers, pollEveryMs, minutes } = this.#given;
    for (const [nth, device] of this.devices.entries()) {
      this.#later(device, this.#chance() * pollEveryMs, () => this.#round(device));
      if (nth < writers) this.#schedule(device);
    }
    const endMs = this.#beginMs + minutes * 60_000;
    while (this.#agenda.length > 0 && this.#agenda.nextAt < endMs) {
      const [at, task] = this.#agenda.take();
      this.#now = at;
      task();
    }
  }

  #count(name, by = 1) {
    if (this.#now >= this.#beginMs) this.counts[name] += by;
  }

  #later(device, ms, run) {
    const { turn } = device;
    this.#agenda.add(this.#now + ms, () => {
      if (device.turn === turn) run();
    });
  }

  /** Schedules the next burst of edits of a writer. */
  #schedule(device) {
    const ms = -Math.log(1 - this.#chance()) * this.#given.burstEveryMs;
    this.#agenda.add(this.#now + ms, () => {
      this.#count('bursts');
      device.pendingAt ??= this.#now;
      this.#wake(device);
      this.#schedule(device);
    });
  }

  #wake(device) {
    device.isPoked = true;
    if (device.isBusy || device.isResting) return;
    device.turn += 1;
    this.#round(device);
  }

  /** Runs a round of the loop: pushes pending commits, or else reads the head. */
  #round(device) {
    device.isBusy = true;
    device.isPoked = false;
    if (device.pendingAt !== undefined) {
      this.#push(device, 0);
      return;
    }
    this.#count('polls');
    this.#later(device, this.#given.roundTripMs, () => this.#rest(device, this.#read(device)));
  }

  /** Reads the head. Returns whether it has changed. */
  #read(device) {
    const { branch } = device;
    const isNew = device.seen !== branch.seq;
    const { wireBytes, headBytes } = this.#given;
    this.#count('reads');
    this.#count('unchanged', isNew ? 0 : 1);
    this.#count('receivedBytes', wireBytes + (isNew ? headBytes : 0));
    for (let seq = device.seen + 1; device.isObserver && seq <= branch.seq; seq++) {
      const { by, madeAt } = branch.commits[seq];
      if (by !== device && madeAt >= this.#beginMs) this.seenAfter.push(this.#now - madeAt);
    }
    device.seen = branch.seq;
    return isNew;
  }

  /** Ends a round: the next one comes after the pause if commits are pending, or after the wait. */
  #rest(device, hasNews) {
    const { pollEveryMs } = this.#given;
    device.isBusy = false;
    device.retryMs = FIRST_RETRY_MS;
    device.waitMs = hasNews ? FIRST_WAIT_MS : Math.min(2 * device.waitMs, pollEveryMs);
    this.#pause(device, PAUSE_MS, () => {
      if (device.pendingAt !== undefined || device.isPoked) this.#round(device);
      else this.#later(device, device.waitMs - PAUSE_MS, () => this.#round(device));
    });
  }

  /** Ends a failed round: commits on their way are pending again. */
  #fail(device) {
    device.pendingAt = device.sendingAt;
    device.sendingAt = undefined;
    device.isBusy = false;
    const ms = device.retryMs * (0.5 + this.#chance() / 2);
    device.retryMs = Math.min(2 * device.retryMs, MAX_RETRY_MS);
    this.#pause(device, ms, () => this.#round(device));
  }

  #pause(device, ms, then) {
    device.isResting = true;
    this.#later(device, ms, () => {
      device.isResting = false;
      then();
    });
  }

  #put(bytes) {
    this.#count('puts');
    this.#count('sentBytes', bytes + this.#given.wireBytes);
  }

  /** Tries a push, onto the head that the device has seen last. */
  #push(device, tries) {
    const { roundTripMs, logBytes, pushesPerLog, pushesPerCheckpoint } = this.#given;
    device.sendingAt ??= device.pendingAt;
    device.pendingAt = undefined;
    if (tries === 0) device.refusals = 0;
    const next = device.seen + 1;
    let ms = roundTripMs;
    if (next % pushesPerLog === 0) {
      this.#put(logBytes);
      ms += roundTripMs;
    }
    if (next % pushesPerCheckpoint === 0) {
      const isWhole = next % (16 * pushesPerCheckpoint) === 0;
      this.#put(isWhole ? this.#given.storeBytes : this.#given.checkpointBytes);
      ms += roundTripMs;
    }
    // The swap takes effect when the request arrives: half a round trip before its answer.
    this.#later(device, ms - roundTripMs / 2, () => this.#swap(device, tries));
  }

  #swap(device, tries) {
    const { roundTripMs, swapEveryMs, headBytes, pokes } = this.#given;
    const { branch } = device;
    this.#put(headBytes);
    this.#count('swaps');
    if (branch.seq !== device.seen) {
      this.#lose(device, tries);
      return;
    }
    if (this.#now - branch.swappedAt < swapEveryMs) {
      this.#count('refused');
      device.refusals += 1;
      if (device.refusals === MAX_REFUSED) {
        this.#later(device, roundTripMs / 2, () => this.#fail(device));
        return;
      }
      const waitMs = roundTripMs + SLOWED_MS * (1 + this.#chance() / 2);
      this.#later(device, waitMs, () => this.#swap(device, tries));
      return;
    }
    this.#count('pushes');
    branch.seq += 1;
    branch.swappedAt = this.#now;
    branch.commits[branch.seq] = { by: device, madeAt: device.sendingAt };
    if (device.sendingAt >= this.#beginMs) this.pushedAfter.push(this.#now - device.sendingAt);
    device.sendingAt = undefined;
    device.seen = branch.seq;
    for (const other of pokes ? branch.devices : []) {
      if (other === device) continue;
      this.#agenda.add(this.#now + roundTripMs / 2, () => this.#wake(other));
    }
    this.#later(device, roundTripMs / 2, () => this.#rest(device, true));
  }

  /** Reads the head, merges and tries again: another device was first. */
  #lose(device, tries) {
    const { roundTripMs } = this.#given;
    this.#count('lost');
    if (tries + 1 >= MAX_TRIES) {
      this.#count('givenUp');
      this.#later(device, roundTripMs / 2, () => this.#fail(device));
      return;
    }
    this.#later(device, 1.5 * roundTripMs, () => {
      this.#read(device);
      const most = Math.min(MAX_RACE_MS, FIRST_RACE_MS * 2 ** tries);
      this.#later(device, most * this.#chance(), () => this.#push(device, tries + 1));
    });
  }
}

/** Runs the model, and returns its counts in `minutes`, after the warm-up. */
export function simulateScale(options) {
  const given = { ...DEFAULTS, ...options };
  const model = new Model(given);
  model.run();
  const pending = model.devices.filter(
    ({ pendingAt, sendingAt }) => (pendingAt ?? sendingAt) !== undefined,
  ).length;
  const { counts, pushedAfter, seenAfter } = model;
  return { ...given, ...counts, pending, pushed: summary(pushedAfter), seen: summary(seenAfter) };
}

/** Returns the middle and the 95th of a hundred, in milliseconds. */
function summary(all) {
  const sorted = all.toSorted((a, b) => a - b);
  const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
  return { count: sorted.length, half: at(0.5), most: at(0.95) };
}

/** Computes the cost of a month, in dollars. `prices` are for a million requests and for a gigabyte. */
export function costOf(run, { perMillionWrites, perMillionReads, perGbOut }) {
  const months = (30 * 24 * 60) / run.minutes;
  const writes = (run.puts * months) / 1e6;
  const reads = (run.reads * months) / 1e6;
  const gigabytes = (run.receivedBytes * months) / 1e9;
  return writes * perMillionWrites + reads * perMillionReads + gigabytes * perGbOut;
}

// Runs `kill -9` on a whole browser while a page syncs with a remote, to which another device pushes at the same time.
// A round is one store on one profile: it is killed while it clones, pushes, pulls, and writes a checkpoint; each next
// launch checks the store before it goes on. In the end both devices must have one root.

import { pause, within } from '../../../lib/engines/limits.mjs';
import { call, visit, withPage } from '../driver.mjs';
import { mayTrap } from '../kill.mjs';
import { withProfiles } from '../profiles.mjs';
import { randomFrom } from '../random.mjs';
import { BLOCK_ROWS, ROWS } from './other.mjs';
import { killOf, PHASES, roundOf, toldKill } from './plans.mjs';
import { SyncTally } from './tally.mjs';
import { KEY, World } from './world.mjs';

/** The longest wait for the moment of a kill. */
const MOST_MS = 120_000;
/** The most turns of both devices until they must be equal. */
const TURNS = 4;

/** Kills an engine `kills` times, in rounds; `show` gets the progress. */
export function killSyncEngine(engine, options) {
  return withProfiles(engine, (profiles) => killOnProfiles({ engine, profiles, ...options }));
}

async function killOnProfiles({ engine, origin, profiles, kills, seed, show }) {
  const random = randomFrom(seed);
  const tally = new SyncTally({ name: engine.name, version: engine.find().version });
  for (let nth = 0; nth * PHASES.length < kills; nth++) {
    const round = roundOf(nth, random);
    const phases = PHASES.slice(0, kills - nth * PHASES.length);
    const name = `${engine.name}, round ${nth} (${round.kind})`;
    const told = (phase) =>
      show?.(`${name}, ${phase}; ${tally.kills} of ${kills}, problems ${tally.problems.length}`);
    const profileDir = await profiles.make();
    const world = await World.open({ ...round, random: randomFrom(round.seed) });
    try {
      const one = new Round({ engine, origin, profileDir, world, round, tally, name });
      await one.run(phases, told);
    } catch (cause) {
      tally.failed(name, cause.message);
    } finally {
      await world.close();
      await profiles.remove(profileDir);
    }
  }
  return tally;
}

class Round {
  #engine;
  #origin;
  #profileDir;
  #world;
  #round;
  #tally;
  #name;
  #random;
  /** The last kill, for messages. */
  #where = 'the beginning';

  constructor({ engine, origin, profileDir, world, round, tally, name }) {
    this.#engine = engine;
    this.#origin = origin;
    this.#profileDir = profileDir;
    this.#world = world;
    this.#round = round;
    this.#tally = tally;
    this.#name = name;
    this.#random = randomFrom(round.seed + 1);
  }

  /** Runs all phases; `told` gets the next phase. */
  async run(phases, told) {
    for (const [nth, phase] of phases.entries()) {
      told(phase);
      if (nth > 0 && !(await this.#lookAgain(nth))) return;
      if (nth === 0) await this.#launch((page) => this.#syncUntilKilled(page, nth));
    }
    told('the end');
    const where = { profileDir: this.#profileDir, url: this.#origin };
    const { uncaught } = await withPage(this.#engine, where, async (page) => {
      if (await this.#look(page, 'push')) await this.#end(page);
    });
    for (const problem of uncaught) this.#failed(`uncaught ${problem}`);
  }

  /** Launches again, checks what the kill has left, and goes on. Returns whether the store is there. */
  async #lookAgain(nth) {
    let isThere = false;
    await this.#launch(async (page) => {
      isThere = await this.#look(page, PHASES[nth]);
      if (isThere) await this.#syncUntilKilled(page, nth);
    });
    return isThere;
  }

  async #launch(work) {
    const browser = await this.#engine.launch(this.#profileDir);
    try {
      await work(await visit(await browser.newPage(), this.#origin), browser);
    } finally {
      await browser.kill();
      this.#world.gate.release(this.#takesEffect);
      this.#world.forget();
      for (const failure of this.#world.failures.splice(0)) this.#failed(failure);
    }
    await this.#world.other.stop();
    // The other device goes on while the browser is gone.
    await this.#world.other.editOnce();
  }

  #takesEffect = true;

  /** Resolves at the moment of the kill. */
  async #syncUntilKilled(page, nth) {
    const { gate, other } = this.#world;
    const phase = PHASES[nth];
    const kill = killOf(this.#round, nth, this.#random);
    this.#where = `${phase}, ${toldKill(kill)}`;
    this.#takesEffect = kill.takesEffect ?? true;
    const packs = gate.seen.get('put pack') ?? 0;
    const begun = this.#world.called(...(kill.latest ?? kill.call)).then(() => false);
    const held = kill.hold && gate.hold(kill.hold).then(() => true);
    const due = held ? Promise.race([held, begun]) : begun;
    const reads = () => gate.seen.get('read head') ?? 0;
    other.start(phase, phase === 'push' || phase === 'checkpoint' ? () => gate.swaps : reads);
    await call(page, 'startSyncing', this.#plan(phase));
    const isHeld = await within(MOST_MS, `the moment of ${this.#where}`, due).catch((cause) => {
      const { current } = this.#world;
      const seen = JSON.stringify([...gate.seen]);
      throw new Error(
        `${cause.message}, in ${current}; requests ${seen}, under way ${JSON.stringify(gate.underWay)}`,
      );
    });
    await pause(kill.delayMs);
    const { current } = this.#world;
    const isCheckpoint = current === 'push' && (gate.seen.get('put pack') ?? 0) > packs;
    const kind = this.#round.isLazy && current === 'clone' ? 'lazy clone' : current;
    this.#tally.killed({
      current: isCheckpoint ? 'checkpoint' : kind,
      underWay: gate.underWay,
      isHeld,
    });
  }

  #plan(phase) {
    const { isLazy, isEncrypted, policy, seed } = this.#round;
    const { urls, next } = this.#world;
    const key = isEncrypted ? KEY : undefined;
    const about = { store: 'synced', seed, phase, isLazy, policy, key, next };
    return { ...about, ...urls, rows: ROWS, blockRows: BLOCK_ROWS };
  }

  /** Checks the store; repeats and counts the check if the core has trapped. */
  async #lookOnce(page, plan, isAll) {
    try {
      return await call(page, 'lookSynced', plan, isAll);
    } catch (cause) {
      if (!mayTrap(this.#engine, cause)) throw cause;
      this.#tally.trapped(`${this.#name}, after ${this.#where}`, cause);
      return call(page, 'lookSynced', plan, isAll);
    }
  }

  #failed(problem) {
    this.#tally.failed(`${this.#name}, after ${this.#where}`, problem);
  }

  /** Checks the store before it syncs again. Returns whether it is there, or the browser has deleted it. */
  async #look(page, phase) {
    const { edits, last } = this.#world;
    const looked = await this.#lookOnce(page, this.#plan(phase), false);
    for (const problem of looked.problems) this.#failed(problem);
    if (looked.control < last) {
      if (looked.control === 0) {
        this.#tally.wiped.push(`${this.#name}, after ${this.#where}`);
        return false;
      }
      this.#tally.lostByControl += last - looked.control;
    }
    edits.told([...looked.conflicts, ...(await this.#world.other.conflicts())]);
    // If the control has lost an edit, the browser has.
    const isKept = (id) => Number(id.split(' ')[1]) <= looked.control;
    const lost = edits.lost(looked.places, 'page').filter(isKept);
    for (const id of lost) this.#failed(`lost ${edits.storyOf(id)}`);
    return true;
  }

  /** Syncs both devices without kills until they have one root; then each edit must be somewhere, once. */
  async #end(page) {
    const { edits, other } = this.#world;
    await call(page, 'editFirst', this.#plan('push'));
    const plan = this.#plan('push');
    let root;
    for (let turn = 0; turn < TURNS && root !== other.db.root; turn++) {
      await other.connection.push();
      root = await call(page, 'settle', plan);
      await other.connection.pull();
    }
    if (root !== other.db.root) this.#failed('the devices have different roots in the end');
    const looked = await this.#lookOnce(page, plan, true);
    for (const problem of looked.problems) this.#failed(problem);
    if (looked.root !== root) this.#failed('the root is another after all rows were read');
    const { ok } = await other.db.health.verify();
    if (!ok) this.#failed('the other device does not verify');
    edits.told([...looked.conflicts, ...(await other.conflicts())]);
    for (const id of edits.lost(looked.places)) {
      this.#failed(`lost in the end: ${edits.storyOf(id)}`);
    }
    for (const problem of edits.doubled(looked.places)) this.#failed(problem);
    const conflicts = looked.conflicts.length + (await other.conflicts()).length;
    this.#tally.ended(this.#round.kind, { edits, conflicts });
  }
}

import { MOST_CHANGES } from '../base/internal-symbols.js';
import type { ReadContext } from '../engine/read/context.js';
import type { Change } from '../engine/read/decode-diff.js';
import { ChangeBatch, type FollowedRange } from './change-batch.js';
import { mostChanges } from './most-changes.js';
import { type Member, WindowList } from './row-window-list.js';
import { runInSlices } from './run-in-slices.js';
import type { LocalHandle } from './types.js';

/** A handle that is followed. */
export interface GroupHost {
  readonly db: LocalHandle;
  readonly from: ReadContext;
  /** Groups by the names of their ranges. */
  readonly groups: Map<string, Set<FollowerGroup>>;
  /** Calls the listeners of followers that have changed. */
  flush(): void;
}

/** The share of a slice for changes that come in one turn. */
const PART_OF_SLICE = 0.5;

/**
 * Members that show parts of one range at one commit, and the watch that leads on from there. So they miss no change,
 * take no change twice, and mix no commits in a list. A member that begins, or must be read again, reads the head, and
 * joins the group at the same commit or makes one. Groups of a range that meet at a commit become one.
 */
export class FollowerGroup {
  readonly #ground: GroupHost;
  readonly #followed: FollowedRange;
  readonly #lanes = [new WindowList(), new WindowList()] as const;
  readonly #members = new Set<Member>();
  readonly #stop: () => void;
  /** The commit that all members are at; `undefined` while they are not at one. */
  root: string | undefined;
  /** Whether no changes have come yet. */
  #isNew = true;
  /** A read that changes wait for. */
  #reading: Promise<unknown> | undefined;

  /** Begins at the head. Throws if the handle cannot be watched. */
  constructor(ground: GroupHost, followed: FollowedRange) {
    this.#ground = ground;
    this.#followed = followed;
    this.root = ground.db.root;
    const take = (changes: readonly Change[] | undefined, { root }: { readonly root: string }) =>
      this.#receiveChanges(changes, root);
    const callback = Object.assign(take, { [MOST_CHANGES]: () => mostChanges(this.#members) });
    this.#stop = ground.db.watch(followed.range, callback, {
      onError: (cause) => this.#fail(cause),
    });
    const { groups } = ground;
    groups.set(followed.rangeName, (groups.get(followed.rangeName) ?? new Set()).add(this));
  }

  /** Returns the group of a range at the head; makes a missing one. */
  static atHead(ground: GroupHost, followed: FollowedRange): FollowerGroup {
    return groupAt(ground, followed, ground.db.root) ?? new FollowerGroup(ground, followed);
  }

  /** Adds a member that is at the commit of this group. */
  add(member: Member): void {
    member.group = this;
    this.#members.add(member);
    this.#laneOf(member).add(member);
  }

  delete(member: Member): void {
    if (member.group !== this) return;
    member.group = undefined;
    this.#members.delete(member);
    this.#laneOf(member).delete(member);
    // A member may come back in this turn.
    queueMicrotask(() => {
      if (this.#members.size === 0) this.#end();
    });
  }

  #laneOf({ wanted }: Member): WindowList {
    return this.#lanes[wanted.reverse ? 1 : 0];
  }

  /**
   * Adds the first member of a group. Changes wait until it has been read at the commit at which the group began.
   * Removes it again if `read` resolves to `false` or rejects.
   */
  async addRead(member: Member, read: () => Promise<boolean>): Promise<void> {
    const { root } = this;
    this.root = undefined;
    member.group = this;
    this.#members.add(member);
    const reading = read();
    this.#reading = reading.catch(() => {});
    try {
      if (await reading) {
        this.add(member);
        this.root = root;
      }
    } finally {
      this.#reading = undefined;
      if (this.root === undefined) this.delete(member);
    }
  }

  #end(): void {
    this.#stop();
    this.root = undefined;
    const { groups } = this.#ground;
    const same = groups.get(this.#followed.rangeName);
    same?.delete(this);
    if (same?.size === 0) groups.delete(this.#followed.rangeName);
  }

  #fail(cause: unknown): void {
    this.#end();
    for (const member of [...this.#members]) member.fail(cause);
    this.#ground.flush();
  }

  /** Receives the changes that lead to a commit; `undefined` if there are too many to follow. */
  #receiveChanges(
    changes: readonly Change[] | undefined,
    root: string,
  ): Promise<unknown> | undefined {
    // A new watch that is ahead of older ones is first brought to their commit, which may lead back.
    const isForth = !this.#isNew || root === this.#ground.db.root;
    this.#isNew = false;
    const take = () => {
      const partMs = this.#ground.from.host.sliceMs * PART_OF_SLICE;
      const work = this.#take(isForth ? changes : undefined, root);
      return runInSlices(work, partMs, () => this.#ground.flush());
    };
    return this.#reading === undefined ? take() : this.#reading.then(take);
  }

  /** Brings the members to a commit: by its changes, or else by reading the head. */
  *#take(changes: readonly Change[] | undefined, root: string): Generator<void, void, void> {
    this.root = undefined;
    const outdated = changes ? yield* this.#applyChanges(changes) : [...this.#members];
    for (const member of outdated) this.delete(member);
    this.root = root;
    this.#meet(root);
    for (const member of outdated) {
      if (member.group === undefined) member.begin();
      yield;
    }
  }

  /** Applies changes; returns the members that must be read again. */
  *#applyChanges(all: readonly Change[]): Generator<void, Member[], void> {
    const { places } = this.#followed;
    const { positionOf, isIn } = places;
    const changes = isIn
      ? all.filter(({ key, secondary }) => isIn(positionOf(key, secondary)))
      : all;
    const outdated: Member[] = [];
    for (const [at, lane] of this.#lanes.entries()) {
      if (lane.isEmpty) continue;
      const news =
        at === 0
          ? new ChangeBatch(changes, 1, places)
          : new ChangeBatch([...changes].reverse(), -1, places);
      for (const member of lane.near(news)) {
        if (member.group === this && (yield* member.apply(news))) outdated.push(member);
        yield;
      }
    }
    return outdated;
  }

  /** Gives its members to another group of the range at this commit, if there is one. */
  #meet(root: string): void {
    const other = groupAt(this.#ground, this.#followed, root, this);
    if (other === undefined) return;
    for (const member of this.#members) other.add(member);
    this.#members.clear();
    this.#end();
  }
}

/** Finds a group of a range at a commit, other than `except`. */
function groupAt(
  { groups }: GroupHost,
  { rangeName }: FollowedRange,
  root: string,
  except?: FollowerGroup,
): FollowerGroup | undefined {
  for (const group of groups.get(rangeName) ?? []) {
    if (group !== except && group.root === root) return group;
  }
  return undefined;
}

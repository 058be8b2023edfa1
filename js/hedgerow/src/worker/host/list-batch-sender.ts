/** Sends lists to a page in parts, and waits while the page is behind. */
import { isByteArray } from '../../base/is-byte-array.js';
import { later } from '../../base/timeout.js';
import { weigh } from '../estimate-message-cost.js';
import { type Message, PART, PART_BYTES, PART_MEMBERS, PARTS_AHEAD } from '../protocol.js';

/** Milliseconds after which a part leaves although it is not full. */
const PART_MS = 4;

/** Whether a member crosses as JSON text: pages parse text faster than they take in objects. */
export type IsText = (member: unknown) => boolean;

const isData = (value: unknown) => value !== undefined && !isByteArray(value);

/** For values of the store itself: JSON, or bytes at the top of a value. */
export const ofStore: IsText = (member) => {
  if (!isData(member)) return false;
  if (Array.isArray(member)) return member.every(isData);
  const { newValue = 0, oldValue = 0 } = Object(member);
  return isData(newValue) && isData(oldValue);
};

/** For rows of tables that are plain JSON. */
export const ofJson: IsText = (member) => member !== undefined;

/** For all other members. */
export const never: IsText = () => false;

type Post = (message: Message, bytes?: number) => void;

export class ListSender {
  readonly #id: number;
  readonly #post: Post;
  readonly #isText: IsText;
  #members: unknown[] = [];
  /** Whether `#members` are texts. */
  #areTexts = false;
  #bytes = 0;
  /** The number of parts that were sent and not taken. */
  #ahead = 0;
  #go: ((isOver?: boolean) => void) | undefined;
  #stopTimer = () => {};
  /** Whether the gathered members wait only for the page. */
  #isLate = false;
  #isOver = false;

  constructor(id: number, post: Post, isText: IsText) {
    this.#id = id;
    this.#post = post;
    this.#isText = isText;
  }

  /** Adds a member; returns a promise if the caller is to wait. */
  add(member: unknown): Promise<void> | undefined {
    const isText = this.#isText(member);
    // A part has members of one kind.
    const ends = isText !== this.#areTexts && this.#members.length > 0;
    if (ends) this.flush();
    this.#areTexts = isText;
    const made = isText ? JSON.stringify(member) : member;
    if (this.#members.length === 0) this.#stopTimer = later(() => this.#leave(), PART_MS);
    this.#members.push(made);
    this.#bytes += isText ? (made as string).length : weigh(member, PART_BYTES);
    const isFull = this.#bytes >= PART_BYTES || this.#members.length >= PART_MEMBERS;
    if (isFull) this.#leave();
    if (!(ends || isFull) || this.#ahead < PARTS_AHEAD || this.#isOver) return undefined;
    return new Promise((resolve) => {
      this.#go = () => resolve();
    });
  }

  /** Adds all members of a list, and sends the last part. */
  async addAll(members: readonly unknown[]): Promise<void> {
    for (const member of members) {
      const wait = this.add(member);
      if (wait !== undefined) await wait;
      if (this.#isOver) return;
    }
    this.flush();
  }

  /** Sends the gathered members, unless the page is behind: then the part goes on to grow. */
  #leave(): void {
    this.#isLate = this.#ahead >= PARTS_AHEAD;
    if (!this.#isLate) this.flush();
  }

  /** Sends the gathered members. */
  flush(): void {
    const members = this.#members;
    if (members.length === 0 || this.#isOver) return;
    this.#stopTimer();
    const bytes = this.#bytes;
    this.#members = [];
    this.#bytes = 0;
    this.#isLate = false;
    this.#ahead += 1;
    this.#post([PART, this.#id, this.#areTexts ? `[${members.join()}]` : members], bytes);
  }

  /** Goes on after the page has taken a part. */
  resumeAfterPart(): void {
    this.#ahead = Math.max(0, this.#ahead - 1);
    if (this.#isLate) this.#leave();
    if (this.#ahead < PARTS_AHEAD) this.#wake();
  }

  /** Ends the list: the page wants no more of it. */
  end(): void {
    this.#isOver = true;
    this.#stopTimer();
    this.#members = [];
    this.#wake();
  }

  #wake(): void {
    this.#go?.();
    this.#go = undefined;
  }
}

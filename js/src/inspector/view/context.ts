/** What the panels of the page have in common. */

import type { PageAddress } from '../model/page-address.js';
import type { Session } from '../model/session.js';
import type { TimeLine } from '../model/time-line.js';

/** What a panel is given. */
export interface PanelContext {
  readonly session: Session;
  readonly timeLine: TimeLine;
  /** The roots that are to be compared, if another panel has chosen them. */
  readonly roots: { readonly from: string; readonly to: string } | undefined;
  /** Shows another store, branch or panel. */
  show(shown: Partial<PageAddress>): void;
  /** Shows what leads from one root to another. */
  compare(from: string, to: string): void;
  /** Tells in the line of messages what was done, or what has failed. */
  say(text: string): void;
  fail(cause: unknown): void;
  /** Runs work, puts a bar of its time on the strip, and tells its failure. */
  runTimed<T>(name: string, work: () => Promise<T>): Promise<T | undefined>;
}

/** One panel, as long as it is shown. */
export interface Panel {
  readonly element: HTMLElement;
  close?(): void;
}

/** Makes a panel. */
export type MakePanel = (context: PanelContext) => Panel;

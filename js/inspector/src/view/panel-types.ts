/** The types that all panels of the page share. */

import type { PageAddress } from '../model/page-address.js';
import type { TimeLine } from '../model/page-work-timeline.js';
import type { Session } from '../model/store-session.js';

/** The state and the actions that a panel gets. */
export interface PanelContext {
  readonly session: Session;
  readonly timeLine: TimeLine;
  /** The roots to compare, if another panel has chosen them. */
  readonly roots: { readonly from: string; readonly to: string } | undefined;
  /** Shows another store, branch or panel. */
  show(shown: Partial<PageAddress>): void;
  /** Shows the changes from one root to another. */
  compare(from: string, to: string): void;
  /** Shows in the line of messages what was done; `fail` shows an error there. */
  say(text: string): void;
  fail(cause: unknown): void;
  /** Runs work, puts a bar of its time on the strip, and shows its failure. */
  runTimed<T>(name: string, work: () => Promise<T>): Promise<T | undefined>;
}

/** One panel, while it is shown. */
export interface Panel {
  readonly element: HTMLElement;
  close?(): void;
}

export type MakePanel = (context: PanelContext) => Panel;

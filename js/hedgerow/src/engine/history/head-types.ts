import type { Host } from '../../core/operation-host.js';
import type { Hold } from '../../storage/tabs/pins.js';

/** The commit that a branch is at. */
export interface Head {
  readonly commitBytes: Uint8Array;
  readonly generation: number;
  /** The host of the core, or of the reader, that has the view. */
  readonly host: Host;
  /** The view of the commit. */
  readonly view: number;
  /** The number of rows. */
  readonly rows: number;
}

/** A head that stays readable, with its view open, until it is released. */
export interface HeldHead extends Hold {
  readonly head: Head;
}

/** Types the messages between the frames of `devices.html`. */
import type { BucketConnection, SyncStatus } from 'hedgerow/sync';
import type { STATES } from './tasks.js';

export type Field = 'title' | 'status' | 'minutes';

export interface Task {
  /** Its key. */
  readonly number: number;
  readonly title: string;
  readonly status: (typeof STATES)[number];
  readonly minutes: number;
}

/** A field that both sides had changed. */
export interface ToldConflict {
  readonly id: string;
  readonly number: number;
  readonly field: string;
  /** The value of the device that merged, the server's value, and the value that stands now. */
  readonly ours: string;
  readonly theirs: string;
  readonly result: string;
  /** The other fields of the row that only one side had changed: both changes stand. */
  readonly onlyOurs: readonly string[];
  readonly onlyTheirs: readonly string[];
}

/** The last exchange that moved rows, and its calls. */
export interface Exchange {
  readonly way: 'sent' | 'merged' | 'received';
  readonly rows: number;
  readonly requests: number;
  readonly sent: number;
  readonly received: number;
}

/** A device's report on itself. */
export interface Report {
  readonly name: string;
  readonly height: number;
  readonly state: 'starting' | 'ready' | 'failed';
  readonly status: SyncStatus | undefined;
  readonly isPlugged: boolean;
  /** Rows that differ from the server's, as last seen. */
  readonly waiting: number;
  readonly root: string | undefined;
  readonly rows: number;
  readonly traffic: BucketConnection['traffic'];
  /** The calls that the wire has noted; it keeps the last ones. */
  readonly wired: { readonly calls: number; readonly received: number };
  readonly clone:
    | { readonly ms: number; readonly requests: number; readonly received: number }
    | undefined;
  readonly exchange: Exchange | undefined;
  readonly conflicts: readonly ToldConflict[];
}

/** An order to a device. */
export type Order =
  | { readonly do: 'plug'; readonly isPlugged: boolean }
  | { readonly do: 'ten' }
  /** Changes the title or the status of a task, and adds to its minutes. */
  | {
      readonly do: 'stir';
      readonly number: number;
      readonly field: 'title' | 'status';
      readonly minutes: number;
    }
  | { readonly do: 'forget' };

/** What the frames of `devices.html` say to one another. */
import type { SyncStatus } from 'hedgerow';

export type Field = 'title' | 'status' | 'minutes';

export interface Task {
  readonly title: string;
  readonly status: string;
  readonly minutes: number;
}

/** A field that both sides had changed. */
export interface ToldConflict {
  readonly id: string;
  readonly number: number;
  readonly field: string;
  /** What the device that decided it had written, what the server had, and what stands now. */
  readonly ours: string;
  readonly theirs: string;
  readonly result: string;
}

/** What ten rows came to: the calls from the click until the device was in sync. */
export interface Travelled {
  readonly rows: number;
  readonly calls: readonly string[];
  readonly writes: number;
  readonly sent: number;
}

/** What a device tells of itself. */
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
  readonly requests: number;
  readonly sent: number;
  readonly received: number;
  readonly clone:
    | { readonly ms: number; readonly requests: number; readonly received: number }
    | undefined;
  readonly travelled: Travelled | undefined;
  /** The last that came from the server. */
  readonly pulled:
    | { readonly rows: number; readonly requests: number; readonly received: number }
    | undefined;
  readonly conflicts: readonly ToldConflict[];
}

/** What a device is asked to do. */
export type Order =
  | { readonly do: 'plug'; readonly isPlugged: boolean }
  | { readonly do: 'ten' }
  | { readonly do: 'edit'; readonly number: number; readonly change: Partial<Task> }
  | { readonly do: 'forget' };

/** The types of mutators: their calls, requests, options and results. */
import type { Change } from '../../engine/read/decode-diff.js';
import type { ConnectionState } from '../link/connection-state.js';
import type { Endpoint } from '../wire/app-server-options.js';

export type { Endpoint };

/** A function that changes rows. It may run again, on other rows, so it depends on its arguments and on `tx` alone. */
// biome-ignore lint/suspicious/noExplicitAny: each mutator has arguments of its own
export type Mutator<Tx = any> = (tx: Tx, args: any) => unknown;

/** Mutators by their names. */
// biome-ignore lint/suspicious/noExplicitAny: a store may have tables, and so its transactions
export type Mutators<Tx = any> = Readonly<Record<string, Mutator<Tx>>>;

/** The calls of mutators, typed by their arguments. */
export type MutatorCalls<M extends Mutators> = {
  readonly [Name in keyof M]: M[Name] extends (tx: never, ...args: infer Args) => infer Result
    ? (...args: Args) => Promise<Awaited<Result>>
    : never;
};

/** The arguments of a mutator. */
type ArgsOf<Of> = Of extends (tx: never, args: infer Args) => unknown ? Args : never;

/** The result of a mutator whose call can be undone: the call that undoes it, by the name of its mutator. */
export interface Undoable<M extends Mutators> {
  readonly undo: { readonly [Name in keyof M]?: ArgsOf<M[Name]> | undefined };
}

/** The result of the call that undoes another one. */
export type UndoResult<M extends Mutators, Done> = Done extends { readonly undo: infer Undo }
  ? Awaited<ReturnType<M[keyof Undo & keyof M]>>
  : never;

/** The names of mutators that take the changes of a branch. */
export type MergingName<M extends Mutators> = {
  readonly [Name in keyof M]: readonly Change[] extends ArgsOf<M[Name]> ? Name : never;
}[keyof M] &
  string;

/** The request of a pull: a pull of Replicache, version 1. */
export interface PullRequest {
  readonly pullVersion: 1;
  readonly clientGroupID: string;
  readonly cookie: unknown;
  readonly profileID: string;
  readonly schemaVersion: string;
}

/** A call as it is sent. */
export interface SentCall {
  readonly clientID: string;
  readonly id: number;
  readonly name: string;
  readonly args: unknown;
  /** Milliseconds since 1970, by the clock of this device. */
  readonly timestamp: number;
}

/** The request of a push: a push of Replicache, version 1. */
export interface PushRequest {
  readonly pushVersion: 1;
  readonly clientGroupID: string;
  readonly mutations: readonly SentCall[];
  readonly profileID: string;
  readonly schemaVersion: string;
}

/** A call in the queue. */
export interface PendingCall extends SentCall {
  /** Identifies this call in `drop`, also when its id has changed. */
  readonly place: number;
  /** Whether it may have reached the server, or an earlier one that has forgotten this store. */
  readonly isSent: boolean;
}

/** A call that had no effect when it ran again, here or at the server. */
export interface RejectedCall extends PendingCall {
  /** Whether it is still in the queue: it may have reached the server, which decides. Other tabs do not list it yet. */
  readonly isPending: boolean;
  /**
   * The error of its mutator; `unsupported` if this version of the app has no such mutator; `remote` if the server
   * refused it. After a reload it is an `Error` with the same message.
   */
  readonly error: unknown;
  /** The server's reason for its refusal, `null` without one. Absent if the server has not refused it. */
  readonly why?: unknown;
}

/** The event of a server that no longer knew this store. All calls are in the queue under new ids. */
export interface ServerReset {
  /** The calls that may have taken effect at the server before: they are sent again. */
  readonly sent: readonly PendingCall[];
}

/** The state of a connection to a server with mutators. */
export interface MutatorState extends ConnectionState {
  /** Calls that the server has not acknowledged, also without a loop. */
  readonly pendingCalls: number;
  /**
   * Calls that had no effect when they ran again, here or at the server, in the order of the calls. They are stored, and
   * listed in all tabs, until `dismiss`: no crash loses one. A new list once one of its calls has changed.
   */
  readonly rejected: readonly RejectedCall[];
  /** Whether `undo()` and `redo()` have a call to make. */
  readonly canUndo: boolean;
  readonly canRedo: boolean;
}

/** The result of a pull. */
export interface MutatorPull {
  /** Whether the server had news. */
  readonly hasNews: boolean;
  /** Calls that left the queue: the server has acknowledged them. */
  readonly acknowledged: number;
  readonly pending: number;
}

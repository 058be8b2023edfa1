/** The messages between a page and the worker that has its store. */

/** The version of the protocol, which both sides must share. */
export const PROTOCOL = 1;

/** The member of a message to a worker or a service worker that brings the port of a page. */
export const CONNECT = 'hedgerow:connect';

/** A message: its tag, then its fields. Several messages are posted as one list. */
export type Message = readonly [tag: number, ...rest: unknown[]];

// From the page.
/** `[protocol, name of its lock]` */
export const HELLO = 0;
/** `[id, target, path, refs]`: makes a chain of calls, which begins at the object with the number `target`. */
export const CALL = 1;
/** `[id]`: the signal of the call is aborted. */
export const ABORT = 2;
/** `[id]`: a part was taken. */
export const ACK = 3;
/** `[id, which]`: a callback of the page has settled. */
export const TOLD = 4;
/** `[id]`: ends a watch, an iteration or a live query, or releases a handle. */
export const STOP = 5;
/** `[source, members, isLast]` */
export const FEED = 6;
/** `[source]`: its iterator has thrown. */
export const SPOIL = 7;
/** `[id, isDone]`: the function of a transaction has returned, or thrown. */
export const RAN = 8;
/** The page closes the connection. */
export const BYE = 9;
/** The page is not frozen. */
export const PONG = 10;

// From the worker.
/** `[protocol, name of its lock, name of the store, names of tables]` */
export const WELCOME = 20;
/** `[protocol, error]` */
export const REFUSED = 21;
/** `[id, value]` */
export const OK = 22;
/** `[id, error]` */
export const NO = 23;
/** `[id, members]`: some members of a list, or these as JSON text. */
export const PART = 24;
/** `[id, which, args, hasParts]`: calls a callback; with `hasParts` the first argument has come in parts. */
export const TELL = 25;
/** `[id, target]`: runs the function of a transaction with the object of this number. */
export const RUN = 26;
/** `[source]`: asks for members. */
export const PULL = 27;
/** `[source]`: ends the source. */
export const CEASE = 28;
/** Asks whether the page is frozen. */
export const PING = 29;

/** A call on a path: its name and arguments. */
export type Call = readonly [name: string, ...args: unknown[]];

/**
 * The reference in the place of an argument (`member` undefined), or of its member, that cannot cross: to a signal, or
 * to a callback, a handle or a source by its number.
 */
export type ArgumentRef = readonly [
  step: number,
  at: number,
  member: string | undefined,
  what: 'signal' | 'callback' | 'handle' | 'source',
  number: number,
];

/** The namespaces of a store. */
export type Namespace = 'branches' | 'history' | 'health' | 'backup';

/** The kinds of objects that pages have handles of. */
export type HandleKind =
  | 'store'
  | Namespace
  | 'snapshot'
  | 'tx'
  | 'table'
  | 'query'
  | 'scan'
  | 'rows'
  | 'sums'
  | 'export'
  | 'commit';

/** The kinds of answers: each ends a path. */
export type AnswerKind =
  /** A promise of a value. */
  | 'value'
  /** A promise of a list, which comes in parts. */
  | 'list'
  /** A promise of a value; its first argument is a list, an iterable, or bytes. */
  | 'load'
  /** A function that ends the watch. */
  | 'watch'
  /** An object that its user releases. */
  | 'snapshotHandle'
  | 'branchHandle'
  | 'exportHandle'
  /** Runs a function of the page. */
  | 'run'
  /** Members one by one. */
  | 'each'
  | 'live'
  | 'close';

export type Gives = HandleKind | AnswerKind;

const READ = 'root get has count at rank prove';
const ROWS = { list: 'toArray', value: 'first', each: 'each' };
const ASK = 'where between orderBy reverse limit offset after using scan';

/** The one list of permitted calls: all others are refused. */
const NAMES: { readonly [K in HandleKind]: { readonly [G in Gives]?: string } } = {
  store: {
    value: `${READ} put delete insert update clear`,
    list: 'getMany',
    load: 'putMany deleteMany applyPatch',
    scan: 'scan',
    sums: 'sumTree',
    watch: 'watch',
    snapshotHandle: 'snapshot',
    run: 'transaction',
    live: 'live',
    close: 'close',
    branches: 'branches',
    history: 'history',
    health: 'health',
    backup: 'backup',
  },
  branches: {
    value: 'current list delete switchTo merge preview reset',
    branchHandle: 'open',
  },
  history: { value: 'revert', rows: 'diff since sinceFork', run: 'commit' },
  health: { value: 'get persist stats compact verify repair', watch: 'subscribe' },
  backup: { exportHandle: 'export' },
  snapshot: { value: READ, list: 'getMany', scan: 'scan', sums: 'sumTree' },
  tx: {
    value: 'get has count at rank put delete',
    list: 'getMany',
    load: 'deleteMany',
    scan: 'scan',
  },
  table: {
    value: 'get has rank put insert update delete clear ready migration tryMigration count at',
    list: 'getMany toArray',
    load: 'putMany deleteMany',
    query: 'all where between orderBy',
    rows: 'sinceFork',
    watch: 'watch',
    each: 'each',
    live: 'live',
  },
  query: {
    value: 'first at count delete',
    list: 'toArray',
    query: ASK,
    watch: 'watch',
    each: 'each',
    live: 'live',
  },
  scan: { ...ROWS, rows: 'keys values' },
  rows: ROWS,
  sums: {
    value: 'root get prove put delete',
    list: 'getMany',
    load: 'putMany deleteMany proveMany',
    rows: 'entries diff',
  },
  export: { each: 'each' },
  commit: {},
};

/** The results of calls, for each kind of object. */
export const CALLS = Object.fromEntries(
  Object.entries(NAMES).map(([kind, all]) => {
    const entries = Object.entries(all).flatMap(([gives, names]) =>
      names.split(' ').map((name) => [name, gives] as const),
    );
    return [kind, new Map(entries)];
  }),
) as unknown as Readonly<Record<HandleKind, ReadonlyMap<string, Gives>>>;

/** Whether a call gives an object on which the path goes on. */
export const isKind = (gives: Gives): gives is HandleKind => gives in NAMES;

/** Returns the name of a transaction's call for errors: with the table, if it is a call of a table or its query. */
export function nameOf([first, ...rest]: readonly Call[]): string {
  const last = rest.at(-1)?.[0];
  return ['tx', first?.[0], ...(last === undefined || last === 'each' ? [] : [last])].join('.');
}

/** Whether a member is a property, not a call. */
export const isProperty = (name: string) =>
  /^(root|current|branches|history|health|backup)$/.test(name);

/** Parts that may be sent and not taken. */
export const PARTS_AHEAD = 4;
/** Bytes of a part, about: a page parses so many within a millisecond. */
export const PART_BYTES = 64 << 10;
/** Most members of a part. */
export const PART_MEMBERS = 1024;

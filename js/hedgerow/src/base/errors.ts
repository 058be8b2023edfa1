/** Every way in which a call can fail. The strings are stable. */
export type ErrorCode =
  | 'invalid-key'
  | 'invalid-value'
  | 'invalid-row'
  | 'invalid-patch'
  | 'invalid-argument'
  | 'invalid-proof'
  | 'sum-overflow'
  | 'invalid-export'
  | 'invalid-delta'
  | 'invalid-remote'
  | 'bad-response'
  | 'conflict'
  | 'quota-exceeded'
  | 'disconnected'
  | 'corrupt-chunk'
  | 'missing-chunk'
  | 'unsupported-format'
  | 'unsupported'
  | 'not-loaded'
  | 'aborted'
  | 'closed'
  | 'store-not-found'
  | 'branch-not-found'
  | 'not-ready'
  | 'blocked'
  | 'out-of-memory'
  | 'crashed'
  | 'storage'
  | 'offline'
  | 'remote'
  | 'remote-auth'
  | 'remote-gone'
  | 'rollback'
  | 'remote-unsafe'
  | 'wrong-key'
  | 'newer-version'
  | 'exists';

/** The kinds of objects at a remote. */
export type RemoteKind =
  | 'repository'
  | 'head'
  | 'log'
  | 'pack'
  | 'delta'
  | 'nodes'
  | 'directory'
  | 'record'
  | 'mark'
  | 'history';

/** A key that two branches have changed to different values. Absent rows are `undefined`. */
export interface Conflict {
  readonly key: string;
  /** Its value when the branches parted. */
  readonly base: unknown;
  /** Its value in the branch that receives the merge. */
  readonly ours: unknown;
  /** Its value in the branch that is merged. */
  readonly theirs: unknown;
}

/** Facts of some errors, next to their message. `cause` is the exception of the platform, if one was the cause. */
export type ErrorFacts = Omit<
  HedgerowError,
  keyof Error | 'code' | 'help' | 'retryable' | 'toString'
> &
  Pick<Error, 'cause'>;

/** Where an import finds the pages of errors in the package. */
const PAGES = 'hedgerow/errors/';

const RETRYABLE: ReadonlySet<ErrorCode> = new Set([
  'conflict',
  'quota-exceeded',
  'disconnected',
  'blocked',
  'crashed',
  'not-ready',
  'not-loaded',
  'storage',
  'offline',
]);

/** The one error that Hedgerow throws. `message` repeats neither code nor page; `String(error)` has all three. */
export class HedgerowError extends Error {
  /** `AbortError` with the code `aborted`: apps check that name to catch aborted calls of the platform. */
  declare readonly name: 'HedgerowError' | 'AbortError';
  /** The kind of failure; stable, meant for `switch`. */
  declare readonly code: ErrorCode;
  /** The page of the code, in the package: its cause, an example, the remedy. */
  declare readonly help: string;
  /** Position of the offending row, or operation of a patch, in its source, from 0. */
  declare readonly row?: number | undefined;
  /** Key of the offending row, if a sum tree or a table refuses it. */
  declare readonly key?: string | undefined;
  /** Name of the table of the offending row. */
  declare readonly table?: string | undefined;
  /** The faults that the schema of a table finds in the row. */
  declare readonly issues?: readonly { readonly message: string }[] | undefined;
  /** Byte offset of the fault, if the source is bytes. */
  declare readonly offset?: number | undefined;
  /** JSON pointer to the fault in the offending value; `''` if the whole value is the fault. */
  declare readonly pointer?: string | undefined;
  /** Hash of the offending chunk in hexadecimal, if a chunk caused the error. */
  declare readonly chunk?: string | undefined;
  /** The kind of the damaged object of a remote, with the code `invalid-remote`. */
  declare readonly object?: RemoteKind | undefined;
  /** `false` if a remote, or an endpoint of an app, knows that no request has left, with the code `offline`. */
  declare readonly isSent?: boolean | undefined;
  /** The keys whose rows are not here, if only a part of the store is here, with the code `offline`. */
  declare readonly range?: { readonly gt?: string; readonly lte: string } | undefined;
  /** Status of the refusing HTTP response, with `bad-response`, `remote`, `remote-auth` and `remote-gone`. */
  declare readonly status?: number | undefined;
  /** How long the server asks to wait, in milliseconds: `Retry-After` of its answer, ten minutes at most. */
  declare readonly retryAfterMs?: number | undefined;
  /** The first 100 conflicts of a merge without `onConflict`, in the order of keys. */
  declare readonly conflicts?: readonly Conflict[] | undefined;

  constructor(code: ErrorCode, message: string, { cause, ...facts }: ErrorFacts = {}) {
    // In V8 the text of `stack` begins with this.
    super(`${code}: ${message}`, cause === undefined ? undefined : { cause });
    this.message = message;
    Object.assign(this, facts, {
      name: code === 'aborted' ? 'AbortError' : 'HedgerowError',
      code,
      help: `${PAGES}${code}.md`,
    });
  }

  /** Whether the same call may succeed at a second try. */
  get retryable(): boolean {
    const { code, status = 0 } = this;
    // Below 500, only these three are temporary.
    return code === 'bad-response' || code === 'remote'
      ? status >= 500 || status === 408 || status === 425 || status === 429
      : RETRYABLE.has(code);
  }

  override toString(): string {
    return `HedgerowError [${this.code}]: ${this.message} (${this.help})`;
  }
}

/** Returns whether storage is full. */
export const isFull = (cause: unknown): boolean =>
  cause instanceof HedgerowError && cause.code === 'quota-exceeded';

/** Returns whether the data to write were refused: other data would not be. */
export const isRefusal = (cause: unknown): cause is HedgerowError =>
  cause instanceof HedgerowError && /^(invalid|sum)-/.test(cause.code);

/** Returns whether a chunk is missing. */
export const isMissing = (cause: unknown): boolean =>
  cause instanceof HedgerowError && cause.code === 'missing-chunk';

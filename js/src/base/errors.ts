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

/** What is kept at a remote. */
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
  /** Its value in the branch that is merged into. */
  readonly ours: unknown;
  /** Its value in the branch that is merged. */
  readonly theirs: unknown;
}

/** Facts of some errors besides their message. `cause` is what the platform threw, if that was the cause. */
export type ErrorFacts = Omit<
  HedgerowError,
  keyof Error | 'code' | 'help' | 'retryable' | 'toString'
> &
  Pick<Error, 'cause'>;

/** Where the pages of errors are: in the package, as an import finds them. */
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

/** The one error that Hedgerow throws. `message` repeats neither the code nor the page of it: `String(error)` has all three. */
export class HedgerowError extends Error {
  /** `AbortError` with the code `aborted`: code that catches aborted calls of the platform checks that name. */
  declare readonly name: 'HedgerowError' | 'AbortError';
  /** What failed; stable, meant for `switch`. */
  declare readonly code: ErrorCode;
  /** The page of the code, in the package: its cause, an example, what to do. */
  declare readonly help: string;
  /** Position of the offending row, or operation of a patch, in its source, from 0. */
  declare readonly row?: number | undefined;
  /** Key of the offending row, if a sum tree or a table refuses it. */
  declare readonly key?: string | undefined;
  /** Name of the table of the offending row. */
  declare readonly table?: string | undefined;
  /** What the schema of a table says of the row. */
  declare readonly issues?: readonly { readonly message: string }[] | undefined;
  /** Byte offset of the fault, if the source is bytes. */
  declare readonly offset?: number | undefined;
  /** JSON pointer to the fault in the offending value; `''` when the whole value is the fault. */
  declare readonly pointer?: string | undefined;
  /** Hash of the offending chunk in hexadecimal, if a chunk caused the error. */
  declare readonly chunk?: string | undefined;
  /** The kind of object of a remote that is damaged, with the code `invalid-remote`. */
  declare readonly object?: RemoteKind | undefined;
  /** `false` where a remote, or an endpoint of an app, knows that nothing has left, with the code `offline`. */
  declare readonly isSent?: boolean | undefined;
  /** The keys whose rows are not here, of a store that is only partly here, with the code `offline`. */
  declare readonly range?: { readonly gt?: string; readonly lte: string } | undefined;
  /** Status of the HTTP response that refused: with `bad-response`, and with `remote`, `remote-auth` and `remote-gone`. */
  declare readonly status?: number | undefined;
  /** How long the server asks to wait, in milliseconds: `Retry-After` of its answer, ten minutes at most. */
  declare readonly retryAfterMs?: number | undefined;
  /** For a merge without `onConflict`: its first 100 conflicts, in the order of keys. */
  declare readonly conflicts?: readonly Conflict[] | undefined;

  constructor(code: ErrorCode, message: string, { cause, ...facts }: ErrorFacts = {}) {
    // The text of `stack` begins with this in browsers of V8.
    super(`${code}: ${message}`, cause === undefined ? undefined : { cause });
    this.message = message;
    Object.assign(this, facts, {
      name: code === 'aborted' ? 'AbortError' : 'HedgerowError',
      code,
      help: `${PAGES}${code}.md`,
    });
  }

  /** Whether the same call may succeed if it is made again. */
  get retryable(): boolean {
    const { code, status = 0 } = this;
    // Of the answers below 500, these three pass.
    return code === 'bad-response' || code === 'remote'
      ? status >= 500 || status === 408 || status === 425 || status === 429
      : RETRYABLE.has(code);
  }

  override toString(): string {
    return `HedgerowError [${this.code}]: ${this.message} (${this.help})`;
  }
}

/** Whether storage is full. */
export const isFull = (cause: unknown): boolean =>
  cause instanceof HedgerowError && cause.code === 'quota-exceeded';

/** Whether what was to be written is refused: something else would not be. */
export const isRefusal = (cause: unknown): cause is HedgerowError =>
  cause instanceof HedgerowError && /^(invalid|sum)-/.test(cause.code);

/** Whether a chunk is missing. */
export const isMissing = (cause: unknown): boolean =>
  cause instanceof HedgerowError && cause.code === 'missing-chunk';

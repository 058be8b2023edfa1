/** The codes say what a caller does after a failure: each has a remedy of its own. The strings are stable. */
export type ErrorCode =
  | 'invalid-argument'
  | 'invalid-data'
  | 'exists'
  | 'not-found'
  | 'not-ready'
  | 'closed'
  | 'aborted'
  | 'conflict'
  | 'blocked'
  | 'quota-exceeded'
  | 'out-of-memory'
  | 'corrupt-chunk'
  | 'missing-chunk'
  | 'newer-version'
  | 'unsupported'
  | 'unavailable'
  | 'offline'
  | 'remote'
  | 'unauthorized'
  | 'rollback'
  | 'wrong-key';

/** The causes that share a code. Other faults of a call are `invalid-argument` without a detail. */
interface Details {
  readonly 'invalid-argument': 'key' | 'value' | 'sum-overflow';
  readonly 'invalid-data': 'row' | 'patch' | 'export' | 'proof' | 'delta';
  readonly 'not-found': 'store' | 'branch';
  readonly 'newer-version': 'format' | 'schema';
  readonly unavailable: 'disconnected' | 'storage' | 'crashed' | 'not-loaded';
  readonly remote: 'status' | 'response' | 'data' | 'gone' | 'unsafe';
}

/** The cause, where causes share a code. The strings are stable. */
export type ErrorDetail = Details[keyof Details];

/** A code, and its detail after a slash: `offline`, `remote/gone`. */
export type ErrorKind =
  | Exclude<ErrorCode, Exclude<keyof Details, 'invalid-argument'>>
  | { [Code in keyof Details]: `${Code}/${Details[Code]}` }[keyof Details];

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
  keyof Error | 'code' | 'detail' | 'help' | 'retryable' | 'toString'
> &
  Pick<Error, 'cause'>;

/** The one error that Hedgerow throws. `message` repeats neither code nor page; `String(error)` has all. */
export class HedgerowError extends Error {
  /** With `aborted` and `quota-exceeded` the name of the platform's error, for apps that check names. */
  declare readonly name: 'HedgerowError' | 'AbortError' | 'QuotaExceededError';
  /** Says what to do next; stable, meant for `switch`. */
  declare readonly code: ErrorCode;
  /** The cause, where causes share a code; stable. */
  declare readonly detail?: ErrorDetail | undefined;
  /** The page of the code, in the package, and there the section of the detail: cause, example, remedy. */
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
  /** The kind of the damaged object of a remote, with `remote/data`. */
  declare readonly object?: RemoteKind | undefined;
  /** `false` if a remote, or an endpoint of an app, knows that no request has left, with the code `offline`. */
  declare readonly isSent?: boolean | undefined;
  /** The keys whose rows are not here, if only a part of the store is here, with the code `offline`. */
  declare readonly range?: { readonly gt?: string; readonly lte: string } | undefined;
  /** Status of the refusing HTTP response, with the codes `remote` and `unauthorized`. */
  declare readonly status?: number | undefined;
  /** How long the server asks to wait, in milliseconds: `Retry-After` of its answer, ten minutes at most. */
  declare readonly retryAfterMs?: number | undefined;
  /** The first 100 conflicts of a merge without `onConflict`, in the order of keys. */
  declare readonly conflicts?: readonly Conflict[] | undefined;

  constructor(kind: ErrorKind, message: string, { cause, ...facts }: ErrorFacts = {}) {
    // In V8 the text of `stack` begins with this.
    super(`${kind}: ${message}`, cause === undefined ? undefined : { cause });
    this.message = message;
    const [code, detail] = kind.split('/');
    Object.assign(this, facts, {
      // The platform has names for two of them.
      name:
        code === 'aborted'
          ? 'AbortError'
          : code === 'quota-exceeded'
            ? 'QuotaExceededError'
            : 'HedgerowError',
      code,
      // An import finds the page in the package.
      ...(detail && { detail }),
      help: `hedgerow/errors/${code}.md${detail ? `#${detail}` : ''}`,
    });
  }

  /** Whether the same call may succeed at a second try. */
  get retryable(): boolean {
    const { code, status = 0 } = this;
    // Below 500, only these three are temporary.
    return code === 'remote'
      ? status >= 500 || [408, 425, 429].includes(status)
      : /^(conflict|quota-exceeded|unavailable|blocked|not-ready|offline)$/.test(code);
  }

  override toString(): string {
    return `HedgerowError [${kindOfError(this)}]: ${this.message} (${this.help})`;
  }
}

/** Returns the code of an error, and its detail after a slash; `undefined` for errors of others. */
export function kindOfError(cause: HedgerowError): ErrorKind;
export function kindOfError(cause: unknown): ErrorKind | undefined;
export function kindOfError(cause: unknown): ErrorKind | undefined {
  return cause instanceof HedgerowError
    ? ((cause.code + (cause.detail ? `/${cause.detail}` : '')) as ErrorKind)
    : undefined;
}

/** Returns whether storage is full. */
export const isFull = (cause: unknown): boolean => kindOfError(cause) === 'quota-exceeded';

/** Returns whether the data to write were refused: other data would not be. */
export const isRefusal = (cause: unknown): cause is HedgerowError =>
  /^(invalid-|remote\/data)/.test(kindOfError(cause) as string);

/** Returns whether a chunk is missing. */
export const isMissing = (cause: unknown): boolean => kindOfError(cause) === 'missing-chunk';

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
  | 'conflict'
  | 'quota-exceeded'
  | 'disconnected'
  | 'corrupt-chunk'
  | 'missing-chunk'
  | 'unsupported-format'
  | 'aborted'
  | 'closed'
  | 'missing'
  | 'not-ready'
  | 'blocked'
  | 'out-of-memory'
  | 'crashed'
  | 'storage';

/** Facts that some errors carry beside their message. */
export interface ErrorFacts {
  /** What brought the failure about, as thrown by the platform. */
  readonly cause?: unknown;
  /** Position of the offending row, or operation of a patch, in its source, from 0. */
  readonly row?: number;
  /** Key of the offending row, where a sum tree refuses it. */
  readonly key?: string;
  /** Byte offset of the fault in a source of bytes. */
  readonly offset?: number;
  /** Hash of the offending chunk, in hexadecimal. */
  readonly chunk?: string;
}

const RETRYABLE: ReadonlySet<ErrorCode> = new Set([
  'conflict',
  'quota-exceeded',
  'disconnected',
  'blocked',
  'crashed',
  'not-ready',
  'storage',
]);

/** The one error that Hedgerow throws. */
export class HedgerowError extends Error {
  override readonly name = 'HedgerowError';
  /** What failed; stable, meant for `switch`. */
  readonly code: ErrorCode;
  /** Position of the offending row, or operation of a patch, in its source, from 0. */
  readonly row?: number;
  /** Key of the offending row, where a sum tree refuses it. */
  readonly key?: string;
  /** Byte offset of the fault in a source of bytes, where there is one. */
  readonly offset?: number;
  /** Hash of the offending chunk in hexadecimal, where there is one. */
  readonly chunk?: string;

  constructor(code: ErrorCode, message: string, facts: ErrorFacts = {}) {
    super(`${code}: ${message}`, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.code = code;
    if (facts.row !== undefined) this.row = facts.row;
    if (facts.key !== undefined) this.key = facts.key;
    if (facts.offset !== undefined) this.offset = facts.offset;
    if (facts.chunk !== undefined) this.chunk = facts.chunk;
  }

  /** Whether the same call may succeed when it is made again. */
  get retryable(): boolean {
    return RETRYABLE.has(this.code);
  }
}

/** Whether a chunk was not where it should be. */
export function isMissing(cause: unknown): boolean {
  return cause instanceof HedgerowError && cause.code === 'missing-chunk';
}

/** Opened sources, which yield rows or bytes. */

/** A step of a source, as an iterator returns it. */
export type Step<T> = IteratorResult<T, unknown>;

export type SourceKind = 'rows' | 'bytes';

/** An opened source. Its members are rows, or parts of bytes. */
interface SourceReader<IsAsync, Answer> {
  readonly kind: SourceKind;
  readonly isAsync: IsAsync;
  /** The number of rows or bytes, if it is known. */
  readonly total: number | undefined;
  /** Returns the next step. The step is valid until the next call. */
  readonly read: () => Answer;
  /** Ends a source that was not read to its end. Does not wait for it: it may never answer. */
  readonly end: () => void;
}

export type SyncSource<T> = SourceReader<false, Step<T>>;
export type AsyncSource<T> = SourceReader<true, Promise<Step<T>>>;

/** An opened source. Its owner must call `end`. */
export type OpenSource<T> = SyncSource<T> | AsyncSource<T>;

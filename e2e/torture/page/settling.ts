/** Checks that calls of a store settle: with their result, or with a typed error. */

const LONGEST_MS = 30_000;

/** The end of a call: a result, a typed error, or a defect. */
export type Ending<T> =
  | { readonly result: T }
  | { readonly code: string; readonly message: string };

/** Notes a defect for each call that hangs, and for each that fails without a code. */
export class Calls {
  readonly problems: string[] = [];
  readonly codes: Record<string, number> = {};

  /** Returns the end of `call`; gives up a hanging one. */
  async ended<T>(name: string, call: () => Promise<T>): Promise<Ending<T>> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const hung = new Promise<Ending<T>>((resolve) => {
      timer = setTimeout(() => {
        this.problems.push(`${name} hangs`);
        resolve({ code: 'hung', message: name });
      }, LONGEST_MS);
    });
    const settled = Promise.resolve()
      .then(call)
      .then(
        (result): Ending<T> => ({ result }),
        (cause: { code?: unknown; detail?: unknown; message?: string }): Ending<T> => {
          const named = cause?.detail ?? cause?.code;
          const code = typeof named === 'string' ? named : 'untyped';
          if (code === 'untyped') this.problems.push(`${name} fails with ${String(cause)}`);
          return { code, message: String(cause?.message) };
        },
      );
    const ending = await Promise.race([settled, hung]);
    clearTimeout(timer);
    const code = 'code' in ending ? ending.code : 'right';
    this.codes[code] = (this.codes[code] ?? 0) + 1;
    return ending;
  }

  /** Notes a failure whose code is not in `allowed`. */
  allow(name: string, ending: Ending<unknown>, allowed: readonly string[]): void {
    if ('code' in ending && ending.code !== 'hung' && !allowed.includes(ending.code)) {
      this.problems.push(`${name}: ${ending.message}`);
    }
  }
}

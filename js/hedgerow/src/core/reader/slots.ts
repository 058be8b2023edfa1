/** Values by handles: the lowest number that is free. */
export class Slots<T> {
  readonly #values: (T | undefined)[] = [];

  /** Adds a value; returns its handle. */
  add(value: T): number {
    const free = this.#values.indexOf(undefined);
    const handle = free < 0 ? this.#values.length : free;
    this.#values[handle] = value;
    return handle;
  }

  get(handle: number): T | undefined {
    return this.#values[handle];
  }

  free(handle: number): void {
    this.#values[handle] = undefined;
  }
}

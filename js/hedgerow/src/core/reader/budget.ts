/** The work that a step may do, in bytes read, copied or hashed. A step may exceed it by what it does between checks. */
export class Budget {
  #left: number;

  constructor(bytes: number) {
    this.#left = Math.max(bytes, 1);
  }

  spend(bytes: number): void {
    this.#left -= bytes;
  }

  get isSpent(): boolean {
    return this.#left <= 0;
  }
}

/** What the leaves of a sum tree that follows rows are made of, checked and as the core reads it. */
import { HedgerowError } from '../errors.js';

/** What the leaves of a sum tree that follows rows are made of. */
export interface SumDefinition {
  /** Pointer to the text (or number) that its key stands for; the key of the row by default. */
  readonly key?: string | undefined;
  /** Pointer to its sum: a whole number, or the digits of one in a string. */
  readonly sum: string;
  /** Pointer to its value, which is the JSON text of what is there; the whole row by default. */
  readonly value?: string | undefined;
  /** Only rows whose keys start with this. */
  readonly prefix?: string | undefined;
}

/** Definitions by the names that `sumTree` takes. */
export type SumDefinitions = Readonly<Record<string, SumDefinition>>;

/** Bytes of hash and sum in what a commit tells of a tree. */
const ROOT_BYTES = 40;

/** Name and definition together take no more. */
const MAX_NAME_BYTES = 200;

const encoder = new TextEncoder();

const POINTER = /^(\/([^~]|~[01])*)?$/;

/** The text of a definition; throws `invalid-argument`. */
export function definitionText({ key, sum, value, prefix }: SumDefinition): string {
  for (const pointer of [key ?? '', sum, value ?? '']) {
    if (typeof pointer === 'string' && POINTER.test(pointer)) continue;
    throw new HedgerowError('invalid-argument', `not a JSON pointer: ${String(pointer)}`);
  }
  return JSON.stringify([key ?? '', sum, value ?? '', prefix ?? '']);
}

/** Throws `invalid-argument` when one of them is no definition. */
export function checkDefinitions(definitions: SumDefinitions): void {
  for (const [name, definition] of Object.entries(definitions)) {
    if (encoder.encode(name + definitionText(definition)).length > MAX_NAME_BYTES) {
      throw new HedgerowError('invalid-argument', `the sums ${name} have too long a definition`);
    }
  }
}

/** The definition in what a commit tells of a tree; empty when it follows no rows. */
export function toldDefinition(told: Uint8Array): string {
  return new TextDecoder().decode(told.subarray(ROOT_BYTES));
}

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

const MAX_NAME_BYTES = 254;
const MAX_DEFINITION_BYTES = 900;

const encoder = new TextEncoder();

const POINTER = /^(\/([^~]|~[01])*)?$/;

/** The text of a definition; throws `invalid-argument`. */
function definitionText({ key, sum, value, prefix }: SumDefinition): string {
  for (const pointer of [key ?? '', sum, value ?? '']) {
    if (typeof pointer === 'string' && POINTER.test(pointer)) continue;
    throw new HedgerowError('invalid-argument', `not a JSON pointer: ${String(pointer)}`);
  }
  return JSON.stringify([key ?? '', sum, value ?? '', prefix ?? '']);
}

/** The bytes of a name; throws `invalid-argument` when it is none. */
export function nameBytes(name: string): Uint8Array {
  const bytes = encoder.encode(name);
  if (typeof name === 'string' && bytes.length <= MAX_NAME_BYTES) return bytes;
  throw new HedgerowError('invalid-argument', 'the name of a sum tree is at most 254 bytes');
}

/** Their texts by name; throws `invalid-argument` when one of them is no definition. */
export function definitionTexts(definitions: SumDefinitions): Map<string, string> {
  const texts = Object.entries(definitions).map(([name, definition]): [string, string] => {
    nameBytes(name);
    const text = definitionText(definition);
    if (encoder.encode(text).length <= MAX_DEFINITION_BYTES) return [name, text];
    throw new HedgerowError('invalid-argument', `the definition of ${name} is too long`);
  });
  return new Map(texts);
}

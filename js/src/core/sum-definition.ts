/** What the leaves of a sum tree that follows rows are made of, checked and as the core reads it. */
import { HedgerowError } from '../base/errors.js';
import { namesOf } from '../base/json-pointer.js';
import { LONE_SURROGATE } from '../base/key.js';
import { shownAs } from '../base/kind.js';
import { MAX_SUM_DEFINITION_BYTES } from '../base/limits.js';
import { optionsOf } from '../base/options.js';
import { checkName } from './sum-name.js';

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

const encoder = new TextEncoder();

/** The text of a definition; throws `invalid-argument`. */
function definitionText({ key, sum, value, prefix }: SumDefinition): string {
  for (const pointer of [key ?? '', sum, value ?? '']) {
    if (namesOf(pointer) !== undefined) continue;
    throw new HedgerowError('invalid-argument', `not a JSON pointer: ${shownAs(pointer)}`);
  }
  if (LONE_SURROGATE.test(prefix ?? '')) {
    throw new HedgerowError('invalid-argument', 'prefix holds half of a surrogate pair');
  }
  return JSON.stringify([key ?? '', sum, value ?? '', prefix ?? '']);
}

/** The bytes of a name; throws `invalid-argument` when it is none. */
export function nameBytes(name: string): Uint8Array {
  checkName(name);
  return encoder.encode(name);
}

/** Their texts by name; throws `invalid-argument` when one of them is no definition. */
export function definitionTexts(definitions: SumDefinitions): Map<string, string> {
  const texts = Object.entries(definitions).map(([name, definition]): [string, string] => {
    nameBytes(name);
    const { prefix = '' } = optionsOf(`the sum tree ${name}`, definition, 'key sum value prefix');
    if (typeof prefix !== 'string') {
      throw new HedgerowError('invalid-argument', `the sum tree ${name}: its prefix is no string`);
    }
    const text = definitionText(definition);
    if (encoder.encode(text).length <= MAX_SUM_DEFINITION_BYTES) return [name, text];
    const message = `the definition of ${name} takes more than ${MAX_SUM_DEFINITION_BYTES} bytes`;
    throw new HedgerowError('invalid-argument', message);
  });
  return new Map(texts);
}

/** Definitions of sum trees that follow rows: their check, and their text for the core. */

import { anything, mandatory, type OptionsOf, optionsOf } from '../base/check-options.js';
import { HedgerowError } from '../base/errors.js';
import { parsePointer } from '../base/json-pointer.js';
import { LONE_SURROGATE } from '../base/key.js';
import { MAX_SUM_DEFINITION_BYTES } from '../base/limits.js';
import { shownAs } from '../base/runtime-type-checks.js';
import { checkTreeName } from './check-sum-tree-name.js';

const SUM_DEFINITION = {
  /** JSON pointer to the key of the leaf, a text or a number; by default the key of the row. */
  key: anything<string>(),
  /** JSON pointer to the sum: a whole number, or a string of its digits. */
  sum: mandatory(anything<string>()),
  /** JSON pointer to the value, which the tree keeps as JSON text; by default the whole row. */
  value: anything<string>(),
  /** Only rows whose keys start with this. */
  prefix: anything<string>(),
};

/** The definition of a sum tree that follows rows: how it makes a leaf of each row. */
export interface SumDefinition extends OptionsOf<typeof SUM_DEFINITION> {}

/** Definitions, by the names that `sumTree` takes. */
export type SumDefinitions = Readonly<Record<string, SumDefinition>>;

const encoder = new TextEncoder();

/** Returns the text of a definition. Throws `invalid-argument`. */
function definitionText({ key, sum, value, prefix }: SumDefinition): string {
  for (const pointer of [key ?? '', sum, value ?? '']) {
    if (parsePointer(pointer) !== undefined) continue;
    throw new HedgerowError('invalid-argument', `not a JSON pointer: ${shownAs(pointer)}`);
  }
  if (LONE_SURROGATE.test(prefix ?? '')) {
    throw new HedgerowError('invalid-argument', 'prefix holds half of a surrogate pair');
  }
  return JSON.stringify([key ?? '', sum, value ?? '', prefix ?? '']);
}

/** Returns the bytes of a name. Throws `invalid-argument` if it cannot name a sum tree. */
export function nameBytes(name: string): Uint8Array {
  checkTreeName(name);
  return encoder.encode(name);
}

/** Returns the texts of definitions, by name. Throws `invalid-argument` if a definition is malformed. */
export function definitionTexts(definitions: SumDefinitions): Map<string, string> {
  const texts = Object.entries(definitions).map(([name, definition]): [string, string] => {
    nameBytes(name);
    const { prefix = '' } = optionsOf(`the sum tree ${name}`, definition, SUM_DEFINITION);
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

/**
 * Reads the trees that a commit names: rows, indexes and sum trees. A proof of any key begins with the commit, see
 * `docs/format.md`, so the public call `prove` suffices.
 */

import { decodeKey } from 'hedgerow';
import { HedgerowError, type IndexDefinition, indexOf, type Reader } from 'hedgerow/kit';
import { chunkOf } from './chunk-parser.js';

/** One tree of a commit. */
export interface TreeOf {
  readonly kind: 'rows' | 'index' | 'sum';
  /** Of an index, its definition as text; of a sum tree, its name. */
  readonly name: string;
  /** Entries, rows or leaves. */
  readonly count: number;
  readonly root: string;
  /** `false` for an index that is being built. */
  readonly isComplete: boolean;
  /** The definition of an index that this version can read. */
  readonly definition?: IndexDefinition;
}

/** The position of the first chunk, after two bytes of the proof and the length of the chunk. */
const CHUNK_AT = 6;

/** Parses the definition of an index; returns `undefined` for an index of a later version. */
export function definitionOf(text: string): IndexDefinition | undefined {
  try {
    const [prefix, ...parts]: string[] = JSON.parse(text);
    const below = parts.at(-1)?.startsWith('<') ? parts.pop()?.slice(1) : undefined;
    const nulls = parts.at(-1) === '?' && parts.pop() !== undefined;
    const path = parts.map((part) => (part.startsWith('w') ? { words: part.slice(1) } : part));
    const [limit] = below === undefined ? [] : decodeKey(below);
    const definition = {
      path,
      ...(prefix && { prefix }),
      ...(nulls && { nulls }),
      ...(limit !== undefined && limit !== null && { below: limit }),
    };
    // This version reads only definitions that it would write alike.
    return indexOf(text, definition).text === text ? definition : undefined;
  } catch {
    return undefined;
  }
}

/** Describes a definition for people: its columns, and the limits of its rows. */
export function titleOf({ path, prefix, nulls, below }: IndexDefinition): string {
  const columns = (Array.isArray(path) ? path : [path]).map((column) =>
    typeof column === 'string' ? column || 'the value' : `words of ${column.words || 'the value'}`,
  );
  const rest = [
    prefix && `rows ${prefix}…`,
    nulls && 'with nulls',
    below !== undefined && `below ${JSON.stringify(below)}`,
  ].filter(Boolean);
  return columns.join(', ') + (rest.length > 0 ? ` (${rest.join('; ')})` : '');
}

function treeOf(name: string, count: number, root: string): TreeOf {
  const [kind, rest] = [name[0], name.slice(1)];
  if (kind === 's') return { kind: 'sum', name: rest, count, root, isComplete: true };
  if (kind !== 'i' && kind !== 'j')
    return { kind: 'rows', name: '', count, root, isComplete: true };
  const definition = definitionOf(rest);
  const isComplete = kind === 'i';
  const tree = { kind: 'index', name: rest, count, root, isComplete } as const;
  return definition === undefined ? tree : { ...tree, definition };
}

/** Reads the trees that the commit in a proof names, in its order. */
export function treesIn(proof: Uint8Array): TreeOf[] {
  if (proof.length === 2) return [];
  try {
    const length = new DataView(proof.buffer, proof.byteOffset, proof.length).getUint32(2, true);
    const bytes = proof.subarray(CHUNK_AT, CHUNK_AT + length);
    const { kind, trees } = chunkOf(bytes);
    if (kind === 'commit' && bytes.length === length) {
      return trees.map(({ name, count, root }) => treeOf(name, count, root));
    }
  } catch {
    // The proof ends too early.
  }
  throw new HedgerowError('invalid-data/proof', 'the commit in a proof is malformed');
}

/** Reads the trees of a commit. Costs one path of the tree of rows. */
export async function treesOf(reader: Pick<Reader, 'prove'>): Promise<TreeOf[]> {
  return treesIn(await reader.prove(''));
}

/** Each line of the worked example in `docs/sum-tree.md`. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { sumKey, verifySumProof, verifySumProofs } from '../../src/core/sum-proof/index.js';
import { bytes, EMPTY, hex, ReferenceTree, sha256 } from '../support/models/sum-reference.js';

const text = readFileSync(new URL('../../../../docs/sum-tree.md', import.meta.url), 'utf8');

/** The named lines of the document; continuation lines have no name. */
const namedLines = new Map<string, string>();
let name = '';
for (const [, label, digits] of text.matchAll(/^([a-z][a-z0-9 ]*?)? {2,}([0-9a-f ]{4,})$/gm)) {
  name = label ?? name;
  namedLines.set(name, (namedLines.get(name) ?? '') + digits!.replaceAll(' ', ''));
}

function line(name: string): Uint8Array {
  const digits = namedLines.get(name);
  if (digits === undefined) throw new Error(`no line ${name}`);
  return bytes(digits);
}

const value = new TextEncoder().encode('EUR');
const root = { hash: hex(line('root')), sum: 42n };
const claims = {
  ann: { value, sum: 30n },
  bob: { value, sum: 12n },
  eve: null,
};

describe('the worked example', () => {
  it('has these lines', () => {
    const of = (what: string) => ['ann', 'bob', 'eve'].map((who) => `${what} of ${who}`);
    const steps = ['ann at depth 4', 'bob at depth 4', 'both at depth 3', 'root'];
    const leaves = of('leaf').slice(0, 2);
    const proofs = ['proof of ann', 'proof of eve', 'proof of all'];
    expect([...namedLines.keys()]).toEqual([...of('key'), ...leaves, ...steps, ...proofs]);
  });

  it('has these hashes', () => {
    for (const who of ['ann', 'bob', 'eve']) expect(sumKey(who)).toEqual(line(`key of ${who}`));
    const sum = (of: number) => bytes(of.toString(16).padStart(16, '0'));
    const up = (who: 'ann' | 'bob') => {
      let node: Uint8Array = sha256(value, sum(Number(claims[who].sum)));
      expect(hex(node)).toBe(namedLines.get(`leaf of ${who}`));
      const key = line(`key of ${who}`);
      for (let depth = 255; depth >= 4; depth--) {
        const empty = EMPTY[depth + 1]!.hash;
        const isRight = (key[depth >> 3]! >> (depth % 8)) & 1;
        const sides = isRight ? [empty, node] : [node, empty];
        node = sha256(...sides, sum(Number(claims[who].sum)));
      }
      expect(hex(node)).toBe(namedLines.get(`${who} at depth 4`));
      return node;
    };
    const both = sha256(up('bob'), up('ann'), sum(42));
    expect(hex(both)).toBe(namedLines.get('both at depth 3'));
    const two = sha256(both, EMPTY[3]!.hash, sum(42));
    const one = sha256(two, EMPTY[2]!.hash, sum(42));
    expect(hex(sha256(EMPTY[1]!.hash, one, sum(42)))).toBe(root.hash);
  });

  it('has these proofs, byte for byte', () => {
    const tree = new ReferenceTree([
      [hex(line('key of ann')), claims.ann],
      [hex(line('key of bob')), claims.bob],
    ]);
    expect(tree.root).toEqual(root);
    for (const who of ['ann', 'eve'] as const) {
      const proof = line(`proof of ${who}`);
      expect(tree.prove(sumKey(who))).toEqual(proof);
      expect(verifySumProof(root, who, claims[who], proof)).toBe(true);
    }
    const all = line('proof of all');
    expect(all.length).toBe(99);
    expect(tree.proveMany(['bob', 'eve', 'ann'].map(sumKey))).toEqual(all);
    expect(verifySumProofs(root, Object.entries(claims), all)).toBe(true);
  });
});

/** Says what a proof shows and what it does not. */
import { byId, make } from './elements.js';
import * as format from './format.js';
import type { Handover } from './handover.js';

/** The part of a person with a proof: they made it, verified it, or failed to verify it. */
export type Knowing = 'made' | 'holds' | 'refused';

/** Says what a handover means, in the element `#meaning`. */
export function showMeaning({ key, claim, root }: Handover, knowing: Knowing): void {
  const total = format.count(root.sum);
  const shown =
    claim === null
      ? `that the tree with this root holds nothing under “${key}”. The sums of the siblings add up to that of the root, ${total}.`
      : `that the tree with this root holds ${claim.value} with the sum ${format.count(claim.sum)} under “${key}”, and that its total, ${total}, has room for it.`;
  const refused =
    'only that these bytes do not prove this claim under this root. The claim may still be true.';
  const parts = [
    knowing === 'refused' ? part('A refusal shows', refused) : part('It shows', shown),
    part(
      'It does not show',
      'that the total is right. A branch hashes the sum of both sides together, not of each side. Under this rule, which is that of taproot-assets, a dishonest maker can publish a total that is too small, and single proofs still verify. Only all leaves together prove a total.',
    ),
  ];
  if (knowing !== 'made') {
    parts.push(
      part(
        'It trusts the root.',
        'Here the root came with the proof, from the same source. A real verifier gets it elsewhere: published, signed, or seen before. Nor does a proof say whether a newer root exists.',
      ),
      part(
        'It reveals sums of others.',
        'Each sibling comes with its sum, and the last ones may be a single leaf.',
      ),
    );
  }
  byId('meaning').replaceChildren(...parts);
}

function part(title: string, words: string): HTMLElement {
  return make('p', {}, make('strong', {}, `${title} `), words);
}

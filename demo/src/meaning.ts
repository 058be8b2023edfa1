/** What a proof shows, and what it does not: no more than it does. */
import { byId, make } from './elements.js';
import * as format from './format.js';
import type { Handover } from './handover.js';

/** What somebody knows who has a claim and its proof: who made it, and who verified it or could not. */
export type Knowing = 'made' | 'holds' | 'refused';

/** Says so of what is handed over, in the element `#meaning`. */
export function showMeaning({ key, claim, root }: Handover, knowing: Knowing): void {
  const total = format.count(root.sum);
  const shown =
    claim === null
      ? `that the tree with this root holds nothing under “${key}”. The sums beside the way add up to that of the root, ${total}.`
      : `that the tree with this root holds ${claim.value} with the sum ${format.count(claim.sum)} under “${key}”, and that its total, ${total}, has room for it.`;
  const refused =
    'only that these bytes do not prove this claim of this root. The claim may be true all the same.';
  const parts = [
    knowing === 'refused' ? part('A refusal shows', refused) : part('It shows', shown),
    part(
      'It does not show',
      'that the total is right. A branch hashes the sum of both of its sides, not of each: by this rule, which is that of taproot-assets, a dishonest maker of a tree can tell too small a total, and single proofs still verify. Only all leaves show a total.',
    ),
  ];
  if (knowing !== 'made') {
    parts.push(
      part(
        'It trusts the root',
        'Here the root came with the proof, from the same hand. A real verifier has it from elsewhere: it was published, or signed, or seen before. Nor does a proof tell whether there is a newer root.',
      ),
      part(
        'It tells of others',
        'Each sibling comes with its sum, and the last ones may be a single neighbour.',
      ),
    );
  }
  byId('meaning').replaceChildren(...parts);
}

function part(title: string, words: string): HTMLElement {
  return make('p', {}, make('strong', {}, `${title} `), words);
}

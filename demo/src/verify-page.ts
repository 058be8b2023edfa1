/**
 * The verifier: a page without a store. It loads only `hedgerow/proofs` and its own words, and knows only what came
 * after the `#` of its address.
 */
import './styles/page.css';
import './styles/controls.css';
import './styles/stage.css';
import './styles/tree.css';
import './styles/sums.css';
import { HedgerowError, sumKey, verifySumProof } from 'hedgerow/proofs';
import { announce, byId, setText } from './elements.js';
import { showFigures } from './figure-list.js';
import { figures } from './figures.js';
import * as format from './format.js';
import { fromFragment, fromHex, type Handover, toHex } from './handover.js';
import { showMeaning } from './meaning.js';
import { PathDrawing } from './path-drawing.js';
import { siblingsOf, sumsOnTheWay } from './proof-parts.js';
import { loadedBytes } from './weight.js';

const TIMES = 31;

const form = byId<HTMLFormElement>('handed');
const drawing = new PathDrawing(byId('way'));
const encoder = new TextEncoder();
const field = (id: string) => byId<HTMLInputElement>(id);

let handed: Handover | undefined;
/** The first verification makes the hashes of all empty subtrees. */
let firstMs: number | undefined;

/** Writes a handover into the form. */
function fillForm({ root, key, claim, proof }: Handover): void {
  field('root-hash').value = root.hash;
  field('root-total').value = String(root.sum);
  field('claim-key').value = key;
  field('claim-value').value = claim?.value ?? '""';
  field('claim-people').value = String(claim?.sum ?? 0n);
  field('proof').value = toHex(proof);
  for (const input of document.querySelectorAll<HTMLInputElement>('input[name=claim]')) {
    input.checked = (input.value === 'none') === (claim === null);
  }
}

/** Reads the form; throws `SyntaxError` for a bad number, and `RangeError` for bad bytes. */
function readForm(): Handover {
  const number = (id: string) => BigInt(field(id).value.replace(/[,\s]/g, '') || '-');
  const isNone = form.querySelector('[value=none]:checked') !== null;
  const proof = fromHex(field('proof').value);
  if (proof === undefined) throw new RangeError('The proof is not in hexadecimal digits.');
  return {
    root: { hash: field('root-hash').value.trim(), sum: number('root-total') },
    key: field('claim-key').value,
    claim: isNone ? null : { value: field('claim-value').value, sum: number('claim-people') },
    proof,
  };
}

/** Verifies the form as it stands. */
function verify(): void {
  byId('claim-leaf').hidden = form.querySelector('[value=none]:checked') !== null;
  let asked: Handover;
  let answer: { holds: boolean; ms: number };
  try {
    asked = readForm();
    answer = timed(asked);
  } catch (failure) {
    showNoQuestion(failure);
    return;
  }
  const { root, key, claim, proof } = asked;
  const { holds, ms } = answer;
  const siblings = siblingsOf(proof);
  const name = claim === null ? key : nameOf(claim.value);
  const leaf = claim && { name, sum: claim.sum };
  const total = root.sum;
  drawing.show({ key: sumKey(key), siblings, leaf, total, verdict: holds ? 'holds' : 'refused' });
  const said =
    claim === null
      ? `Nothing is under “${key}”`
      : `${name} (${key}) has ${format.count(claim.sum)}`;
  setText(
    'verdict-claim',
    `${holds ? '' : 'Claimed: '}${said}, in the tree whose root is ${format.shortRoot(root.hash)} with the sum ${format.count(root.sum)}.`,
  );
  showVerdict(holds, holds ? 'Hashes and sums lead from the claim to this root.' : reason(asked));
  setText('handed-size', `${format.count(proof.length)} bytes of proof`);
  setText(
    'verify-call',
    `verifySumProof(root, '${key}', ${claim === null ? 'null' : 'leaf'}, proof) → ${holds}`,
  );
  showMeaning(asked, holds ? 'holds' : 'refused');
  announce(holds ? 'The proof holds.' : 'The proof is refused.');
  showWeight(holds, ms);
}

/** Verifies many times, since one is too short to measure; `ms` is the median. */
function timed({ root, key, claim, proof }: Handover): { holds: boolean; ms: number } {
  const leaf = claim && { value: encoder.encode(claim.value), sum: claim.sum };
  const all: number[] = [];
  let holds = false;
  for (let time = 0; time < TIMES; time++) {
    const startMs = performance.now();
    holds = verifySumProof(root, key, leaf, proof);
    all.push(performance.now() - startMs);
    firstMs ??= all[0];
  }
  return { holds, ms: all.sort((a, b) => a - b)[TIMES >> 1] ?? 0 };
}

/** Gives the reason of a refusal, as far as sums show it. */
function reason({ root, claim, proof }: Handover): string {
  const siblings = siblingsOf(proof);
  if (siblings === undefined) return 'These bytes are not a well-formed proof.';
  const [sum = 0n] = sumsOnTheWay(siblings, claim?.sum ?? 0n);
  return sum === root.sum
    ? 'The sums match, but the hashes lead to another root.'
    : `The sums lead to ${format.count(sum)}, and the root says ${format.count(root.sum)}.`;
}

/** Returns the text of a value, which is JSON. */
function nameOf(value: string): string {
  try {
    return String(JSON.parse(value));
  } catch {
    return value;
  }
}

function showVerdict(holds: boolean, why: string): void {
  byId('verdict-card').classList.remove('open');
  setText('verdict', holds ? '✓ It holds' : '✗ Refused');
  setText('verdict-why', why);
  byId('verdict-card').classList.toggle('bad', !holds);
}

function showNoQuestion(failure: unknown): void {
  const isOurs = failure instanceof HedgerowError || failure instanceof RangeError;
  drawing.show(undefined);
  setText('verdict-claim', '');
  setText('verify-call', '');
  const why = isOurs ? failure.message : 'A sum consists of digits.';
  showVerdict(false, `This cannot be checked: ${why}`);
}

function showWeight(holds: boolean, ms: number): void {
  const { script, unpacked, other } = loadedBytes();
  showFigures('verify-figures', [
    ['Verified in', format.duration(ms)],
    ['First time, cold', format.duration(firstMs ?? 0)],
    ['Scripts loaded', format.size(script)],
    ['Scripts, unpacked', format.size(unpacked)],
    ['Text and styles', format.size(other)],
    ['Store, WebAssembly', 'none'],
  ]);
  const times = (figures.verified?.times ?? 0) + 1;
  const bytes = { scriptBytes: script, unpackedBytes: unpacked, otherBytes: other };
  figures.verified = { times, holds, firstMs: firstMs ?? 0, ms, ...bytes };
}

/** The moves of a cheat. Each begins with the content of the form. */
const TAMPERING: Readonly<Record<string, () => void>> = {
  number: () => {
    const input = field('claim-people');
    input.value = String(BigInt(input.value) + 1n);
    check('some');
  },
  deny: () => check(handed?.claim === null ? 'some' : 'none'),
  byte: () => {
    const proof = fromHex(field('proof').value);
    if (proof === undefined || proof.length === 0) return;
    const at = Math.floor(Math.random() * proof.length);
    proof[at] = (proof[at] ?? 0) ^ (1 << Math.floor(Math.random() * 8));
    field('proof').value = toHex(proof);
  },
  total: () => {
    const input = field('root-total');
    input.value = String((BigInt(input.value) * 9n) / 10n);
  },
  back: () => handed && fillForm(handed),
};

function check(value: string): void {
  form.querySelector<HTMLInputElement>(`[value=${value}]`)?.click();
}

function tamperButton(name: string): HTMLElement {
  return byId(`tamper-${name}`);
}

function start(): void {
  handed = fromFragment(location.hash);
  byId<HTMLFieldSetElement>('tamper').disabled = handed === undefined;
  if (handed === undefined) {
    byId('verdict-card').classList.add('open');
    setText('verdict', 'No proof yet');
    setText(
      'verdict-why',
      'This address has none. The page with the rows makes one; or enter root, claim and proof below.',
    );
    return;
  }
  const isAbsence = handed.claim === null;
  tamperButton('number').textContent = isAbsence ? 'Give it one person' : 'One more person';
  tamperButton('deny').textContent = isAbsence
    ? 'Claim that it exists'
    : 'Claim that it does not exist';
  fillForm(handed);
  verify();
}

form.addEventListener('submit', (event) => event.preventDefault());
form.addEventListener('input', verify);
for (const button of form.querySelectorAll<HTMLButtonElement>('[data-tamper]')) {
  button.addEventListener('click', () => {
    try {
      TAMPERING[button.dataset.tamper ?? '']?.();
    } catch {
      // The form has no number to raise.
    }
    verify();
  });
}
addEventListener('hashchange', start);
// All that the page loads is there by then, and can be weighed.
if (document.readyState === 'complete') start();
else addEventListener('load', start, { once: true });

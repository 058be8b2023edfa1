import type { Store } from 'hedgerow';
import { sumKey } from 'hedgerow/proofs';
import { type City, countryName } from './cities.js';
import { announce, byId, make, setText } from './elements.js';
import { showFigures } from './figure-list.js';
import { figures } from './figures.js';
import * as format from './format.js';
import { type Handover, toFragment } from './handover.js';
import { prefixOf } from './key.js';
import { showMeaning } from './meaning.js';
import { PathDrawing } from './path-drawing.js';
import { LEVELS, siblingsOf } from './proof-parts.js';
import { showTrouble } from './trouble.js';

/** The name of the sum tree. */
export const SUMS = 'people';

const FIRST = 'Paris';
const THERE = ['Paris', 'Lagos', 'Reykjavík', 'Springfield, us'];
const NOT_THERE = ['Camelot', 'Utopia'];
const FOUND = 3;
const COPIED_MS = 1500;

const decoder = new TextDecoder();

/** Returns the root as figures have it. */
export function rootOf(store: Store): { readonly total: string; readonly hash: string } {
  const { hash, sum } = store.sumTree(SUMS).root;
  return { total: sum.toString(), hash };
}

/** Picks a city, or an absent key, proves it, and hands the proof over. */
export class SumProving {
  readonly #input = byId<HTMLInputElement>('who');
  readonly #drawing = new PathDrawing(byId('way'));
  readonly #link = byId<HTMLAnchorElement>('to-verifier');
  readonly #copy = byId<HTMLButtonElement>('copy-link');
  readonly #moveIn = byId<HTMLButtonElement>('move-in');
  readonly #onChange: () => void;
  #store: Store | undefined;
  /** The city of the last proof, if it is there. */
  #city: string | undefined;
  /** The last question: an answer to an earlier one is late. */
  #turn = 0;

  /** `onChange` is called when a row has changed, and with it the root. */
  constructor(onChange: () => void) {
    this.#onChange = onChange;
    this.#moveIn.addEventListener('click', () => this.#addOne());
    this.#input.addEventListener('input', () => this.#seek('none'));
    this.#input.addEventListener('keydown', ({ key }) => {
      if (key === 'Enter') byId('who-found').querySelector('button')?.click();
    });
    byId('who-chips').append(
      ...[...THERE, ...NOT_THERE].map((text) => {
        const chip = make('button', { type: 'button', class: 'chip', disabled: '' }, text);
        chip.addEventListener('click', () => {
          this.#input.value = text;
          this.#seek('first');
        });
        return chip;
      }),
    );
    this.#copy.addEventListener('click', () => void this.#copyLink().catch(showTrouble));
  }

  /** Proves keys of `store` from now on; `undefined` ends proving. */
  attach(store: Store | undefined): void {
    this.#store = store;
    this.#turn += 1;
    this.#input.disabled = store === undefined;
    for (const chip of byId('who-chips').querySelectorAll('button')) chip.disabled = !store;
    if (store !== undefined) {
      if (this.#input.value === '') this.#input.value = FIRST;
      this.#seek('first');
      return;
    }
    this.#drawing.show(undefined);
    this.#link.setAttribute('aria-disabled', 'true');
    this.#link.href = 'verify.html';
    this.#copy.disabled = true;
    this.#moveIn.disabled = true;
    for (const id of ['prove-verdict', 'prove-call']) setText(id, '');
    for (const id of ['who-found', 'prove-figures', 'meaning']) byId(id).replaceChildren();
  }

  /** Lists the keys that the typed text may stand for, and proves the first of them, a given key, or no key. */
  #seek(chosen: 'first' | 'none' | { readonly key: string; readonly name: string }): void {
    this.#run(async (store, isLate) => {
      const prefix = prefixOf(this.#input.value);
      const found =
        prefix === '' ? [] : await store.scan<City>({ prefix, limit: 20 }).values().toArray();
      if (isLate()) return;
      found.sort((a, b) => (b.population ?? 0) - (a.population ?? 0));
      const cities = found.slice(0, FOUND);
      const list = byId('who-found');
      list.replaceChildren(...cities.map((city) => this.#choice(city.id, city)));
      // The key of a present city is longer than the typed prefix.
      if (prefix !== '') list.append(this.#choice(prefix, undefined));
      if (chosen === 'none') return;
      const all = [...list.querySelectorAll('button')];
      if (chosen === 'first') all[0]?.click();
      else {
        const { key, name } = chosen;
        const button = all.find(({ dataset }) => dataset.key === key);
        if (button !== undefined) button.click();
        // The text has changed in the meantime.
        else await this.#prove(store, isLate, key, name);
      }
    });
  }

  #choice(key: string, city: City | undefined): HTMLElement {
    const name = city === undefined ? `“${key}”` : city.name;
    const place = city && [city.region, countryName(city.country)].filter(Boolean).join(', ');
    const where = place ?? 'prove that it does not exist';
    const button = make(
      'button',
      { type: 'button', 'data-key': key },
      make('span', { class: 'name' }, name),
      make('span', { class: 'where' }, where),
      make(
        'span',
        { class: 'people' },
        city === undefined ? '–' : format.count(city.population ?? 0),
      ),
    );
    button.addEventListener('click', () => {
      for (const other of byId('who-found').querySelectorAll('button')) {
        other.setAttribute('aria-pressed', String(other === button));
      }
      this.#run((store, isLate) => this.#prove(store, isLate, key, city?.name ?? key));
    });
    return make('li', {}, button);
  }

  async #prove(store: Store, isLate: () => boolean, key: string, name: string): Promise<void> {
    const tree = store.sumTree(SUMS);
    const startMs = performance.now();
    const proof = await tree.prove(key);
    const ms = performance.now() - startMs;
    const leaf = await tree.get(key);
    if (isLate()) return;
    const claim = leaf === undefined ? null : { value: decoder.decode(leaf.value), sum: leaf.sum };
    const siblings = siblingsOf(proof);
    const told = siblings?.length ?? 0;
    this.#drawing.show({
      key: sumKey(key),
      siblings,
      leaf: claim && { name, sum: claim.sum },
      total: tree.root.sum,
      verdict: 'none',
    });
    const what =
      claim === null ? `Nothing is under “${key}”` : `${name}: ${format.count(claim.sum)}`;
    setText('prove-verdict', `${what}, proved in ${format.duration(ms)}`);
    setText('prove-call', `await db.sumTree('${SUMS}').prove('${key}')`);
    showFigures('prove-figures', [
      ['Proof', `${format.count(proof.length)} bytes`],
      ['Made in', format.duration(ms)],
      ['Siblings in the proof', `${told} of ${LEVELS}`],
    ]);
    this.#handOver({ root: tree.root, key, claim, proof });
    announce(`${what}. The proof has ${proof.length} bytes.`);
    this.#city = leaf && key;
    this.#moveIn.disabled = leaf === undefined;
    figures.proof = { key, people: claim?.sum.toString(), bytes: proof.length, told, ms };
  }

  /** Changes one row, and with it all nodes above. */
  #addOne(): void {
    const key = this.#city;
    if (key === undefined) return;
    this.#moveIn.disabled = true;
    this.#run(async (store, isLate) => {
      const city = await store.get<City>(key);
      if (city === undefined) return;
      const startMs = performance.now();
      await store.put(key, { ...city, population: (city.population ?? 0) + 1 });
      const ms = performance.now() - startMs;
      this.#onChange();
      setText(
        'moved',
        `Row, leaf and root changed in one commit, in ${format.duration(ms)}. Proofs for the old root do not hold for the new one.`,
      );
      figures.moved = { key, ms, ...rootOf(store) };
      if (!isLate()) this.#seek({ key, name: city.name });
    });
  }

  #handOver(handover: Handover): void {
    showMeaning(handover, 'made');
    this.#link.href = `verify.html#${toFragment(handover)}`;
    this.#link.removeAttribute('aria-disabled');
    this.#copy.disabled = false;
  }

  async #copyLink(): Promise<void> {
    await navigator.clipboard.writeText(this.#link.href);
    this.#copy.textContent = 'Copied';
    setTimeout(() => {
      this.#copy.textContent = 'Copy the link';
    }, COPIED_MS);
  }

  #run(work: (store: Store, isLate: () => boolean) => Promise<void>): void {
    const store = this.#store;
    if (store === undefined) return;
    const turn = ++this.#turn;
    const isLate = () => turn !== this.#turn;
    work(store, isLate).catch((failure: unknown) => {
      if (!isLate()) showTrouble(failure);
    });
  }
}

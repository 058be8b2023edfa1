/**
 * Drives the inspector by means that any engine has: functions that run in its page, or in the page with its corner.
 */
import { expect, type Page } from './fixtures.js';

const SLOWLY = { timeout: 60_000 };

/** An element by a selector, and by the beginning of its text, if one is given. */
type Sought = readonly [selector: string, text?: string | undefined];

/** An action on it, by name. */
type Act =
  | { readonly do: 'click' }
  | { readonly do: 'text' }
  | { readonly do: 'count' }
  | { readonly do: 'fill' | 'choose' | 'key'; readonly with: string }
  | { readonly do: 'file'; readonly with: Uint8Array };

/** Runs in the page. Returns `null` where no element is found. */
function act([[selector, text], act]: readonly [Sought, Act]): string | number | null {
  const frame = document.querySelector('iframe');
  const page = frame?.contentDocument ?? document;
  const all = [...page.querySelectorAll<HTMLElement>(selector)];
  const found = all.filter((one) => text === undefined || one.textContent?.startsWith(text));
  if (act.do === 'count') return found.length;
  const [element] = found;
  if (element === undefined) return null;
  const field = element as HTMLInputElement & HTMLSelectElement;
  const view = page.defaultView as Window & typeof globalThis;
  const tell = (type: string) => element.dispatchEvent(new view.Event(type, { bubbles: true }));
  if (act.do === 'click') element.click();
  else if (act.do === 'fill') {
    field.value = act.with;
    tell('input');
  } else if (act.do === 'choose') {
    field.selectedIndex = [...field.options].findIndex((one) => one.text.includes(act.with));
    tell('change');
  } else if (act.do === 'key') {
    element.focus();
    const init = { key: act.with, bubbles: true, cancelable: true };
    element.dispatchEvent(new view.KeyboardEvent('keydown', init));
  } else if (act.do === 'file') {
    const moved = new view.DataTransfer();
    moved.items.add(new view.File([act.with as Uint8Array<ArrayBuffer>], 'copy.hedgerow'));
    field.files = moved.files;
    tell('change');
  }
  return element.textContent;
}

/** Drives an inspector. */
export class Inspector {
  readonly #page: Page;

  constructor(page: Page) {
    this.#page = page;
  }

  /** Acts on an element, once it is there. */
  async #act(sought: Sought, what: Act): Promise<void> {
    await expect
      .poll(() => this.#page.evaluate(act, [sought, what] satisfies [Sought, Act]), {
        ...SLOWLY,
        message: `${what.do} ${sought.join(' ')}`,
      })
      .not.toBeNull();
  }

  click(selector: string, text?: string): Promise<void> {
    return this.#act([selector, text], { do: 'click' });
  }

  fill(selector: string, text: string): Promise<void> {
    return this.#act([selector], { do: 'fill', with: text });
  }

  /** Chooses the option with a text in it. */
  choose(selector: string, text: string): Promise<void> {
    return this.#act([selector], { do: 'choose', with: text });
  }

  key(selector: string, key: string): Promise<void> {
    return this.#act([selector], { do: 'key', with: key });
  }

  file(bytes: Uint8Array): Promise<void> {
    return this.#act(['input[type=file]'], { do: 'file', with: bytes });
  }

  tab(name: string): Promise<void> {
    return this.click('[role=tab]', name);
  }

  /** Waits for a text in the first element of a selector. */
  shows(selector: string, text: string | RegExp): Promise<void> {
    const read = async () =>
      String(await this.#page.evaluate(act, [[selector], { do: 'text' }] satisfies [Sought, Act]));
    const shown = expect.poll(read, { ...SLOWLY, message: selector });
    return typeof text === 'string' ? shown.toContain(text) : shown.toMatch(text);
  }

  /** Counts the elements that are there now. */
  async count(selector: string): Promise<number> {
    return Number(
      await this.#page.evaluate(act, [[selector], { do: 'count' }] satisfies [Sought, Act]),
    );
  }

  /** Waits until so many elements are there. */
  counts(count: number, selector: string, text?: string): Promise<void> {
    const read = () =>
      this.#page.evaluate(act, [[selector, text], { do: 'count' }] satisfies [Sought, Act]);
    return expect.poll(read, { ...SLOWLY, message: selector }).toBe(count);
  }
}

/** Finds, makes and changes elements of the page. */

/** Returns the element with an id, which `index.html` has. */
export function byId<T extends Element = HTMLElement>(id: string): T {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`index.html has no #${id}`);
  return element as unknown as T;
}

/** Sets the text of an element, unless it is the same. */
export function setText(id: string, text: string): void {
  const element = byId(id);
  if (element.textContent !== text) element.textContent = text;
}

/** Makes an element with attributes and children. */
export function make(
  tag: string,
  attributes: Readonly<Record<string, string>> = {},
  ...children: (Node | string)[]
): HTMLElement {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** Announces a text to people who listen to the page instead of looking at it. */
export function announce(text: string): void {
  setText('announcer', text);
}

/** Whether the reader asked for little motion. */
export function prefersStillness(): boolean {
  return matchMedia('(prefers-reduced-motion: reduce)').matches;
}

const darkness = matchMedia('(prefers-color-scheme: dark)');
const colours = new Map<string, string>();
const drawers = new Set<() => void>();

/** Forgets the kept colours of the style sheet, which has changed, and calls the listeners. */
export function recolour(): void {
  colours.clear();
  for (const draw of drawers) draw();
}

darkness.addEventListener('change', recolour);

/** Returns a colour of the style sheet, by its custom property. Kept, since plots ask in every frame. */
export function colour(name: string): string {
  let value = colours.get(name);
  if (value === undefined) {
    value = getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
    colours.set(name, value);
  }
  return value;
}

/** Calls back when the colours have changed between light and dark. */
export function onColourScheme(listener: () => void): void {
  drawers.add(listener);
}

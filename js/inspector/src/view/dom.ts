/** Creates elements in one expression. */

type Child = Node | string | number | false | undefined;

/** Attributes by name; functions are listeners of the event named after `on`. */
export type Attributes = Readonly<
  Record<string, string | number | boolean | undefined | ((event: never) => unknown)>
>;

/**
 * Creates an element with attributes and children. `true` sets an empty attribute, `false` and `undefined` leave it
 * out.
 */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') {
      element.addEventListener(name.slice(2), value as EventListener);
    } else if (value !== undefined && value !== false) {
      element.setAttribute(name, value === true ? '' : String(value));
    }
  }
  fill(element, ...children);
  return element;
}

const isShown = (child: Child): child is Node | string | number =>
  child !== undefined && child !== false;

/** Replaces the children of an element. */
export function fill(element: Element, ...children: readonly Child[]): void {
  element.replaceChildren(
    ...children.filter(isShown).map((child) => (typeof child === 'number' ? `${child}` : child)),
  );
}

/** Creates a button with a text. */
export function button(
  text: string,
  onclick: () => unknown,
  more: Attributes = {},
): HTMLButtonElement {
  return h('button', { type: 'button', onclick, ...more }, text);
}

/** Creates a term with its description, for a list. */
export function fact(term: string, ...what: readonly Child[]): HTMLElement {
  return h('div', { class: 'fact' }, h('dt', {}, term), h('dd', {}, ...what));
}

/** Creates a table whose first column names the row. */
export function tableElement(
  caption: string,
  columns: readonly string[],
  rows: readonly (readonly Child[])[],
): HTMLElement {
  const head = h('tr', {}, ...columns.map((name) => h('th', { scope: 'col' }, name)));
  const body = rows.map(([first, ...others]) =>
    h('tr', {}, h('th', { scope: 'row' }, first), ...others.map((cell) => h('td', {}, cell))),
  );
  const inner = h(
    'table',
    {},
    h('caption', { class: 'hidden' }, caption),
    h('thead', {}, head),
    h('tbody', {}, ...body),
  );
  // Wide tables scroll alone, also by keys.
  return h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': caption }, inner);
}

/** Creates a choice among texts. */
export function select(
  label: string,
  choices: readonly (readonly [value: string, text: string])[],
  value: string,
  onchange: (value: string) => unknown,
): HTMLSelectElement {
  const element: HTMLSelectElement = h(
    'select',
    { 'aria-label': label, onchange: () => onchange(element.value) },
    ...choices.map(([one, text]) => h('option', { value: one, selected: one === value }, text)),
  );
  return element;
}

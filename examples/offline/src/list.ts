/** Updates lists in place: an element stays as long as its entry, with the text being typed in it. */

/** Fills `list` from a template. `make` gets a new element, `update` each one that is there. */
export function keyedList<T>(
  list: Element,
  make: (element: HTMLElement, now: () => T) => void,
  update: (element: HTMLElement, value: T) => void,
): (entries: ReadonlyMap<string, T>) => void {
  const { content } = document.querySelector<HTMLTemplateElement>(`#${list.id}-entry`)!;
  const shown = new Map<string, { element: HTMLElement; value: T }>();
  return (entries) => {
    for (const [key, { element }] of shown) {
      if (entries.has(key) || isTyped(element)) continue;
      element.remove();
      shown.delete(key);
    }
    let nth = 0;
    for (const [key, value] of entries) {
      const element = content.firstElementChild!.cloneNode(true) as HTMLElement;
      const one = shown.get(key) ?? { element, value };
      if (!shown.has(key)) make(one.element, () => one.value);
      shown.set(key, one);
      one.value = value;
      update(one.element, value);
      // A moved element loses its focus, so only those move that must.
      const there = list.children[nth++] ?? null;
      if (there !== one.element) list.insertBefore(one.element, there);
    }
  };
}

export const field = (element: Element) => element.querySelector<HTMLInputElement>('[name=title]')!;

/** Whether a person has typed text that no store has yet. */
export function isTyped(element: Element): boolean {
  const { value, defaultValue } = field(element);
  return value !== defaultValue;
}

/** Does a person's work. If it fails, their text stays, and the reason stands next to it. */
export async function attempt(element: Element, work: () => Promise<unknown>): Promise<boolean> {
  const output = element.querySelector('output')!;
  try {
    await work();
    output.textContent = '';
    return true;
  } catch (error) {
    output.textContent = `Not done: ${error instanceof Error ? error.message : error}.`;
    return false;
  }
}

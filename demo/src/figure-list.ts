/** Shows a list of named figures (`<dl>`), whose names change rarely and whose values change often. */
import { byId, make } from './elements.js';

/** A figure's name and value. */
export type NamedFigure = readonly [name: string, value: string];

/** Shows figures in the list with this id. */
export function showFigures(id: string, figures: readonly NamedFigure[]): void {
  const list = byId(id);
  const names = [...list.querySelectorAll('dt')].map((element) => element.textContent);
  const isSame =
    names.length === figures.length && figures.every(([name], index) => name === names[index]);
  if (isSame) {
    for (const [index, element] of list.querySelectorAll('dd').entries()) {
      const value = figures[index]?.[1] ?? '';
      if (element.textContent !== value) element.textContent = value;
    }
    return;
  }
  list.replaceChildren(
    ...figures.map(([name, value]) => make('div', {}, make('dt', {}, name), make('dd', {}, value))),
  );
}

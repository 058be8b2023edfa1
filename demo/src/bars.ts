/** Draws bars to one scale, with a title. */
import { make } from './elements.js';

/** One bar; `kind` is a class of `bars.css`. */
export interface Bar {
  readonly name: string;
  readonly kind: 'ours' | 'theirs';
  /** Its length; `undefined` while unknown. */
  readonly amount: number | undefined;
  readonly text: string;
}

/** Makes a group of bars. */
export function barGroup(title: string, note: string, bars: readonly Bar[]): HTMLElement {
  const longest = Math.max(...bars.map(({ amount = 0 }) => amount));
  return make(
    'div',
    { class: 'bar-group' },
    make('h3', {}, title, make('small', {}, ` ${note}`)),
    ...bars.map(({ name, kind, amount, text }) => {
      const width = amount === undefined ? 0 : (100 * amount) / longest;
      return make(
        'div',
        { class: `bar ${kind}` },
        make('span', { class: 'bar-name' }, name),
        make('span', { class: 'bar-track' }, make('i', { style: `width:${width}%` })),
        make('span', { class: 'bar-value' }, text),
      );
    }),
  );
}

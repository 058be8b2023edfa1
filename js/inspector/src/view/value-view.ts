/** Shows the value of one row live, edits it, and deletes the row. */

import { type LiveRow, liveRow } from 'hedgerow';
import {
  countText,
  editableOf,
  formatValue,
  measureValue,
  type ValueKind,
  valueFrom,
  valueKindOf,
} from '../model/value-text.js';
import { ask } from './confirm-dialog.js';
import { button, fill, h, select } from './dom.js';
import type { PanelContext } from './panel-types.js';

/** The view of one row, at the side of the list. */
export class ValueView {
  readonly element = h('section', { class: 'value', 'aria-label': 'Value' });
  readonly #context: PanelContext;
  /** Called when the focus has no place here any more. */
  readonly #onLeave: () => void;
  #key: string | undefined;
  #row: LiveRow<unknown> | undefined;
  #isEditing = false;

  constructor(context: PanelContext, onLeave: () => void) {
    this.#context = context;
    this.#onLeave = onLeave;
    this.#draw();
  }

  /** The key of the shown row. */
  get key(): string | undefined {
    return this.#key;
  }

  /** Shows the row of a key. */
  show(key: string): void {
    if (key === this.#key && !this.#isEditing) return;
    this.#isEditing = false;
    this.#key = key;
    const { db } = this.#context.session;
    if (this.#row === undefined) {
      this.#row = liveRow(db, key);
      this.#row.subscribe(() => this.#draw());
    } else this.#row.change(db, key);
    this.#draw();
  }

  #draw(): void {
    if (this.#isEditing) return;
    const state = this.#row?.get();
    if (state === undefined || this.#key === undefined) {
      fill(this.element, h('p', { class: 'faint' }, 'Choose a row to see its value.'));
      return;
    }
    if (state.isStale || state.status === 'loading') return;
    if (state.status === 'error') this.#context.fail(state.error);
    const { value } = state;
    if (value === undefined) {
      fill(this.element, this.#title(), h('p', {}, 'There is no such row (any more).'));
      return;
    }
    const size = `${countText(measureValue(value))} bytes of ${valueKindOf(value) === 'json' ? 'JSON' : 'data'}`;
    const text = h(
      'pre',
      { tabindex: 0, role: 'region', 'aria-label': 'The value as text' },
      formatValue(value),
    );
    fill(this.element, this.#title(), h('p', { class: 'faint' }, size), this.#tools(value), text);
  }

  #title(): HTMLElement {
    return h('h2', { class: 'key' }, this.#key === '' ? '(the empty key)' : (this.#key ?? ''));
  }

  #tools(value: unknown): HTMLElement {
    const copy = async () => {
      await navigator.clipboard.writeText(editableOf(value));
      this.#context.say('The value is copied.');
    };
    const tools = [button('Copy', () => copy().catch((cause) => this.#context.fail(cause)))];
    if (this.#context.session.place.canEdit) {
      tools.unshift(
        button('Edit', () => this.edit()),
        button('Delete', () => this.remove()),
      );
    }
    return h('div', { class: 'tools' }, ...tools);
  }

  /** Edits the shown row. */
  edit(): void {
    const value = this.#row?.get().value;
    if (this.#key === undefined || value === undefined || !this.#context.session.place.canEdit)
      return;
    this.#form(value, this.#key);
  }

  /** Opens the form for a new row, with this key as a proposal. */
  make(key: string): void {
    if (this.#context.session.place.canEdit) this.#form(undefined, undefined, key);
  }

  /** Opens the form for a row whose value is `shown`; a new row has no `key`. */
  #form(shown: unknown, key: string | undefined, wanted = ''): void {
    this.#isEditing = true;
    let kind: ValueKind = valueKindOf(shown);
    const keyField = h('input', {
      id: 'edit-key',
      value: key ?? wanted,
      readonly: key !== undefined,
    });
    const text = h('textarea', { id: 'edit-value', spellcheck: 'false' });
    text.value = shown === undefined ? '' : editableOf(shown);
    const problem = h('p', { class: 'problem', role: 'alert' });
    const end = () => {
      this.#isEditing = false;
      this.#draw();
      this.#onLeave();
    };
    const save = async () => {
      try {
        await this.#context.session.edit(keyField.value, shown, valueFrom(text.value, kind));
        this.#context.say(`Row ${keyField.value} is stored.`);
        const saved = keyField.value;
        end();
        this.show(saved);
      } catch (cause) {
        problem.textContent = cause instanceof Error ? cause.message : String(cause);
      }
    };
    const kinds = [
      ['json', 'JSON'],
      ['bytes', 'bytes, as hexadecimal digits'],
    ] as const;
    const form = h(
      'form',
      {
        class: 'edit',
        onsubmit: (event: Event) => {
          event.preventDefault();
          void save();
        },
        onkeydown: (event: KeyboardEvent) => {
          if (event.key === 'Escape') end();
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) void save();
        },
      },
      h('label', { for: 'edit-key' }, 'Key'),
      keyField,
      h('label', { for: 'edit-value' }, 'Value'),
      select('Kind of value', kinds, kind, (one) => (kind = one as ValueKind)),
      text,
      problem,
      h('div', { class: 'tools' }, h('button', {}, 'Save'), button('Cancel', end)),
    );
    fill(this.element, h('h2', {}, key === undefined ? 'New row' : 'Edit'), form);
    (key === undefined ? keyField : text).focus();
  }

  /** Deletes the shown row, once the person has agreed. */
  async remove(): Promise<void> {
    const [key, value] = [this.#key, this.#row?.get().value];
    if (key === undefined || value === undefined || !this.#context.session.place.canEdit) return;
    if (!(await ask('Delete this row?', key, 'Delete'))) return;
    try {
      await this.#context.session.edit(key, value, undefined);
      this.#context.say(`Row ${key} is deleted.`);
    } catch (cause) {
      this.#context.fail(cause);
    }
    this.#onLeave();
  }

  close(): void {
    this.#row?.close();
  }
}

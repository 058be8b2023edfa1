import type { Field, Task } from './device-messages.js';
import { make } from './elements.js';
import { FIELDS, STATES, TASKS } from './tasks.js';

const SHOWN = 6;
const FLASH = 'flash';
const WORDS: Readonly<Record<Field, string>> = {
  title: 'Title',
  status: 'Status',
  minutes: 'Minutes',
};

type Input = HTMLInputElement | HTMLSelectElement;

interface Row {
  readonly element: HTMLElement;
  readonly number: HTMLElement;
  readonly inputs: Readonly<Record<Field, Input>>;
}

/** A few tasks at a time, which can be edited. Changes light up, field by field. */
export class TaskList {
  readonly #onEdit: (number: number, change: Partial<Task>) => void;
  readonly #rows: readonly Row[];
  readonly #tasks = new Map<number, Task>();
  #first = 1;

  /** `onEdit` gets the edited fields. */
  constructor(list: HTMLElement, onEdit: (number: number, change: Partial<Task>) => void) {
    this.#onEdit = onEdit;
    this.#rows = Array.from({ length: SHOWN }, (_, index) => this.#make(index));
    list.replaceChildren(...this.#rows.map(({ element }) => element));
  }

  /** The numbers of the tasks in the list. */
  get shown(): readonly number[] {
    return this.#rows.map((_, index) => this.#first + index);
  }

  get tasks(): number {
    return this.#tasks.size;
  }

  /** Shows the tasks from about that number on. */
  goTo(number: number): void {
    const page = Math.floor((Math.min(Math.max(1, number), TASKS) - 1) / SHOWN);
    this.#first = 1 + page * SHOWN;
    for (const index of this.#rows.keys()) this.#fill(index, []);
  }

  step(pages: number): void {
    this.goTo(this.#first + pages * SHOWN);
  }

  /** Shows a task that has changed, or is new. */
  set(number: number, task: Task | undefined, before: Task | undefined): void {
    if (task === undefined) this.#tasks.delete(number);
    else this.#tasks.set(number, task);
    const index = this.shown.indexOf(number);
    if (index < 0) return;
    const changed = FIELDS.filter((field) => before && task && before[field] !== task[field]);
    this.#fill(index, changed);
  }

  /** Marks the tasks that wait to be sent. */
  mark(waiting: ReadonlySet<number>): void {
    for (const [index, { element }] of this.#rows.entries()) {
      element.classList.toggle('waits', waiting.has(this.#first + index));
    }
  }

  #make(index: number): Row {
    const number = make('span', { class: 'number' });
    const title = make('input', { type: 'text', autocomplete: 'off', spellcheck: 'false' });
    const status = make('select', {}, ...STATES.map((state) => make('option', {}, state)));
    const minutes = make('input', { type: 'number', min: '0', max: '9999', step: '5' });
    const inputs = { title, status, minutes } as unknown as Row['inputs'];
    for (const field of FIELDS) {
      inputs[field].classList.add(field);
      inputs[field].addEventListener('change', () => this.#edited(index, field));
    }
    for (const field of ['title', 'minutes'] as const) {
      inputs[field].addEventListener('keydown', (event) => {
        if ((event as KeyboardEvent).key === 'Enter') inputs[field].blur();
      });
    }
    const unit = make('span', { class: 'minutes-cell' }, minutes, make('small', {}, 'min'));
    return { element: make('li', {}, number, title, status, unit), number, inputs };
  }

  #fill(index: number, changed: readonly Field[]): void {
    const row = this.#rows[index];
    if (row === undefined) return;
    const number = this.#first + index;
    const task = this.#tasks.get(number);
    row.element.classList.toggle('absent', task === undefined);
    row.number.textContent = String(number);
    for (const field of FIELDS) {
      const input = row.inputs[field];
      input.disabled = task === undefined;
      input.setAttribute('aria-label', `${WORDS[field]} of task ${number}`);
      const text = task === undefined ? '' : String(task[field]);
      // Text under a typing hand stays.
      const isTyped = document.activeElement === input && input.tagName === 'INPUT';
      if (!isTyped || !input.matches(':focus-visible')) input.value = text;
      flash(input, changed.includes(field));
    }
    flash(row.element, changed.length > 0);
  }

  #edited(index: number, field: Field): void {
    const row = this.#rows[index];
    const number = this.#first + index;
    const task = this.#tasks.get(number);
    if (row === undefined || task === undefined) return;
    const text = row.inputs[field].value.trim();
    const value = field === 'minutes' ? Number(text) : text;
    const isRight =
      text !== '' && (field !== 'minutes' || (Number(text) >= 0 && Number(text) < 1e4));
    if (!isRight) row.inputs[field].value = String(task[field]);
    else if (value !== task[field]) this.#onEdit(number, { [field]: value });
  }
}

function flash(element: HTMLElement, isChanged: boolean): void {
  element.classList.remove(FLASH);
  if (!isChanged) return;
  // Reading its size makes the browser note that the class was gone.
  void element.offsetWidth;
  element.classList.add(FLASH);
}

/** Handles keys in the editor. Tab indents, unless Escape came before it: the editor must not trap the focus. */

const INDENT = '  ';

/** Replaces the selection so that the browser can undo it. */
function insert(field: HTMLTextAreaElement, text: string): void {
  // Deprecated, and the only call after which undo works; Firefox before 89 lacks it.
  if (document.execCommand('insertText', false, text)) return;
  field.setRangeText(text, field.selectionStart, field.selectionEnd, 'end');
  field.dispatchEvent(new Event('input', { bubbles: true }));
}

/** Indents the lines of the selection, or removes an indent. */
function shift(field: HTMLTextAreaElement, isBack: boolean): void {
  const { value, selectionStart, selectionEnd } = field;
  if (!isBack && selectionStart === selectionEnd) {
    insert(field, INDENT);
    return;
  }
  const from = value.lastIndexOf('\n', selectionStart - 1) + 1;
  const end = value.indexOf('\n', Math.max(selectionStart, selectionEnd - 1));
  const to = end < 0 ? value.length : end;
  const lines = value.slice(from, to).split('\n');
  const shifted = lines.map((line) => (isBack ? line.replace(/^ {1,2}/, '') : INDENT + line));
  const text = shifted.join('\n');
  if (text === lines.join('\n')) return;
  const first = (shifted[0] ?? '').length - (lines[0] ?? '').length;
  field.setSelectionRange(from, to);
  insert(field, text);
  const start = Math.max(from, selectionStart + first);
  field.setSelectionRange(start, Math.max(start, selectionEnd + text.length - (to - from)));
}

/** Begins a line below, as far in as this one; further after an opening bracket. */
function newLine(field: HTMLTextAreaElement): void {
  const { value, selectionStart } = field;
  const line = value.slice(value.lastIndexOf('\n', selectionStart - 1) + 1, selectionStart);
  const indent = /^ */.exec(line)?.[0] ?? '';
  insert(field, `\n${indent}${/[([{]\s*$/.test(line) ? INDENT : ''}`);
}

export class EditorKeys {
  readonly #onRun: () => void;
  #isLeaving = false;

  constructor(onRun: () => void) {
    this.#onRun = onRun;
  }

  press(event: KeyboardEvent): void {
    const field = event.currentTarget as HTMLTextAreaElement;
    const { key, shiftKey } = event;
    // While a word is being composed, keys belong to the composition.
    if (event.isComposing) return;
    if (key === 'Escape') {
      this.#isLeaving = true;
      return;
    }
    const isLeaving = this.#isLeaving;
    if (key !== 'Shift') this.#isLeaving = false;
    const hasModifier = event.ctrlKey || event.metaKey;
    if (key === 'Enter' && hasModifier) this.#onRun();
    else if (hasModifier || event.altKey) return;
    else if (key === 'Tab' && !isLeaving) shift(field, shiftKey);
    else if (key === 'Enter' && !shiftKey) newLine(field);
    else return;
    event.preventDefault();
  }
}

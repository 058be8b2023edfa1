/** Shows the issues, to rename and close them; marks those with a waiting change. */
import { change, type Issue } from './app.js';
import { attempt, field, isTyped, keyedList } from './list.js';

interface ShownIssue extends Issue {
  readonly isWaiting: boolean;
}

const boxOf = (row: Element) => row.querySelector<HTMLInputElement>('[type=checkbox]')!;

function make(row: HTMLElement, now: () => ShownIssue): void {
  const [title, output] = [field(row), row.querySelector('output')!];
  let isSaving = false;
  const save = async () => {
    if (isSaving || !isTyped(row) || !title.reportValidity()) return;
    isSaving = true;
    const [text, from] = [title.value, title.defaultValue];
    const args = { id: now().id, title: text, from };
    const isDone = await attempt(row, () => change('updateIssue', args));
    // After a refusal the person has seen the other title: the next try may overwrite it.
    title.defaultValue = isDone ? text : now().title;
    if (!isDone) output.append(' Enter tries again, Escape gives it up.');
    isSaving = false;
  };
  title.onkeydown = ({ key, isComposing }) => {
    if (key === 'Enter' && !isComposing) void save();
    if (key !== 'Escape' || isComposing) return;
    title.value = title.defaultValue = now().title;
    output.textContent = '';
  };
  // Only Enter tries a refused text again.
  title.onblur = () => {
    if (output.textContent === '') void save();
  };
  boxOf(row).onclick = () => {
    // A closed issue stays closed. The box keeps its focus, unlike a disabled one.
    if (now().status === 'closed') return false;
    void attempt(row, () => change('closeIssue', { id: now().id }));
    return true;
  };
}

function update(row: HTMLElement, { title, status, isWaiting }: ShownIssue): void {
  const [input, box, isClosed] = [field(row), boxOf(row), status === 'closed'];
  if (!isTyped(row) && input.value !== title) input.value = input.defaultValue = title;
  input.readOnly = isClosed && !isTyped(row);
  box.checked = isClosed;
  box.ariaLabel = `${isClosed ? 'Closed' : 'Close'}: ${title}`;
  box.ariaDisabled = String(isClosed);
  row.querySelector<HTMLElement>('.mark')!.hidden = !isWaiting;
}

export const showIssues = keyedList(document.querySelector('#issues')!, make, update);

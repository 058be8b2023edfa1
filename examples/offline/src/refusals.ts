/** Shows refused changes, with the person's text, to write again or dismiss. A card never vanishes by itself. */
import type { RejectedCall } from 'hedgerow/sync';
import { type Args, change, dismiss, newID } from './app.js';
import { attempt, field, keyedList } from './list.js';

interface ShownRefusal extends Omit<RejectedCall, 'args'> {
  readonly args: Args;
  /** The title of its issue now, if that is open. */
  readonly openTitle: string | undefined;
}

const again = ({ args, openTitle: from }: ShownRefusal, title: string) =>
  from === undefined
    ? change('createIssue', { id: newID(), title })
    : change('updateIssue', { id: args.id, title, from });

function make(card: HTMLElement, now: () => ShownRefusal): void {
  const title = field(card);
  title.value = title.defaultValue = now().args.title ?? '';
  const act = (before: () => Promise<void>) =>
    attempt(card, async () => {
      await before();
      await dismiss(now());
      title.value = title.defaultValue;
      // The card goes, and the focus with it.
      document.querySelector<HTMLElement>('#issues')!.focus();
    });
  card.querySelector('form')!.onsubmit = (event) => {
    event.preventDefault();
    void act(() => again(now(), title.value));
  };
  const button = card.querySelector<HTMLElement>('[type=button]')!;
  button.onclick = () => void act(async () => {});
}

function update(
  card: HTMLElement,
  { name, args, error, why, isPending, openTitle }: ShownRefusal,
): void {
  const reason = why ?? (error instanceof Error ? error.message : error);
  const texts = {
    strong:
      why === undefined ? 'Your change no longer fits' : 'The server did not take your change',
    '.why': `Why: ${reason}.${isPending ? ' The server has the last word.' : ''}`,
    '.wrote': name === 'updateIssue' ? `You renamed “${args.from}” to:` : 'You wrote:',
    '[type=submit]': openTitle === undefined ? 'Add as a new issue' : `Rename “${openTitle}”`,
  };
  for (const [selector, text] of Object.entries(texts)) {
    const element = card.querySelector<HTMLElement>(selector)!;
    if (element.textContent !== text) element.textContent = text;
  }
  card.querySelector<HTMLElement>('[type=button]')!.hidden = isPending;
  const hasText = args.title !== undefined;
  field(card).readOnly = isPending;
  field(card).hidden = card.querySelector<HTMLElement>('.wrote')!.hidden = !hasText;
  card.querySelector<HTMLElement>('[type=submit]')!.hidden = !hasText || isPending;
}

export const showRefusals = keyedList(document.querySelector('#refusals')!, make, update);

/** What was not taken, with what the person wrote: to be written again, or dismissed. Nothing vanishes by itself. */
import { change, link, newID, type Refused } from './app.js';
import { attempt, field, keyedList } from './list.js';

interface ShownRefusal extends Refused {
  /** The title of its issue now, if that is open. */
  readonly openTitle: string | undefined;
}

async function dismiss({ of }: Refused): Promise<void> {
  if ('why' in of) return change('dismiss', { id: of.id });
  if (!(await link.drop(of))) throw new Error('it may be at the server, which decides');
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

function update(card: HTMLElement, { name, args, why, of, openTitle }: ShownRefusal): void {
  const isDecided = 'why' in of;
  const texts = {
    strong: isDecided ? 'The server did not take your change' : 'Your change no longer fits',
    '.why': `Why: ${why}.${isDecided ? '' : ' The server has the last word.'}`,
    '.wrote': name === 'updateIssue' ? `You renamed “${args.from}” to:` : 'You wrote:',
    '[type=submit]': openTitle === undefined ? 'Add as a new issue' : `Rename “${openTitle}”`,
  };
  for (const [selector, text] of Object.entries(texts)) {
    const element = card.querySelector<HTMLElement>(selector)!;
    if (element.textContent !== text) element.textContent = text;
  }
  const hasText = args.title !== undefined;
  field(card).readOnly = !isDecided;
  field(card).hidden = card.querySelector<HTMLElement>('.wrote')!.hidden = !hasText;
  card.querySelector<HTMLElement>('[type=submit]')!.hidden = !(hasText && isDecided);
}

export const showRefusals = keyedList(document.querySelector('#refusals')!, make, update);

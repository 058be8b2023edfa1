/** Shows a failure at the top of the page. */
import { byId, setText } from './elements.js';
import { figures } from './figures.js';
import { inPlainWords } from './plain-words.js';

/** Shows what failed; the console gets the whole story. */
export function showTrouble(failure: unknown): void {
  console.error(failure);
  const { what, advice } = inPlainWords(failure);
  setText('trouble-what', what);
  setText('trouble-advice', advice);
  setText('trouble-details', story(failure));
  byId('trouble').hidden = false;
  byId('trouble').scrollIntoView({ block: 'nearest' });
  figures.state = 'failed';
  figures.failure = what;
}

/** Removes the failure. */
export function hideTrouble(): void {
  byId('trouble').hidden = true;
  delete figures.failure;
}

/** Lists a failure and its causes, one a line. */
function story(failure: unknown): string {
  const lines: string[] = [];
  for (let cause: unknown = failure; cause !== undefined && lines.length < 5; ) {
    lines.push(String(cause));
    cause = cause instanceof Error ? cause.cause : undefined;
  }
  return lines.join('\n');
}

/** The page: the rows of the store, the state of the connection to the server, and the switches that make things fail. */
import { serverPokes } from 'hedgerow/sync';
import { type Args, change, connection, look, newID, watch } from './app.js';
import { showIssues } from './issues.js';
import { attempt, field } from './list.js';
import { colleague, flip, showSwitches } from './network.js';
import { showRefusals } from './refusals.js';
import { words } from './words.js';

const at = <E extends HTMLElement>(selector: string) => document.querySelector<E>(selector)!;
let seen: ReturnType<typeof look>;

function showRows(): void {
  seen = look();
  const { issues, isThere, pending, rejected } = seen;
  const waiting = new Set(pending.map(({ args }) => (args as Args).id));
  showIssues(new Map(issues.map((one) => [one.id, { ...one, isWaiting: waiting.has(one.id) }])));
  const titles = new Map(issues.map(({ id, status, title }) => [status + id, title]));
  const refusals = rejected.map((one) => {
    const args = one.args as Args;
    return [String(one.place), { ...one, args, openTitle: titles.get(`open${args.id}`) }] as const;
  });
  showRefusals(new Map(refusals));
  at('#refused').hidden = at('#refusals').childElementCount === 0;
  at('#none').hidden = issues.length > 0 || !isThere;
}

function showState(): void {
  const { tone, title, detail } = words(connection.state);
  at('#state').className = tone;
  at('#state').style.setProperty('--tone', `var(--${tone})`);
  // The same words are not announced again.
  if (at('#state-title').textContent !== title) at('#state-title').textContent = title;
  at('#state-detail').textContent = detail;
  at('#retry').hidden = tone !== 'off' && tone !== 'bad';
}

at('#new').onsubmit = async (event) => {
  event.preventDefault();
  const input = field(at('#new'));
  const args = { id: newID(), title: input.value };
  // At once: the next one may be typed before this one is stored.
  input.value = '';
  if (!(await attempt(at('#new'), () => change('createIssue', args))))
    input.value = `${args.title} ${input.value}`.trim();
};

at('#colleague').onclick = ({ target }) => {
  const { name, value } = target as HTMLButtonElement;
  // A colleague cannot see an issue that was not sent.
  const isUnseen = (id: string) =>
    seen.pending.some((call) => call.name === 'createIssue' && (call.args as Args).id === id);
  const top = seen.issues.find(({ id, status }) => status === 'open' && !isUnseen(id));
  if (name === 'createIssue') void colleague(name, { id: newID(), title: value });
  else if (name && top) void colleague(name, { id: top.id, title: top.title + value });
};

watch(showRows);
connection.subscribe(() => {
  showState();
  showRows();
});
connection.start({ pauseMs: 100, subscribe: serverPokes('/api/') });
showState();
// The time until the next try.
setInterval(showState, 1000);
at('#retry').onclick = () => connection.poke();
at('#switches').onchange = ({ target }) => {
  flip(target as HTMLInputElement);
  connection.poke();
};
showSwitches();
addEventListener('storage', showSwitches);

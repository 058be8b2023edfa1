/** @jsxImportSource solid-js */
import { useLive, useLiveCount } from 'hedgerow/solid';
import { createSignal, For, Show } from 'solid-js';
import { render } from 'solid-js/web';
import { add, issuesOf, openIssues, toggle } from '../common/issues.js';
import { frame } from '../common/page.js';
import { countText, emptyText, errorText, FILTERS, type Filter, timeText } from '../common/text.js';

function App() {
  const open = useLiveCount(openIssues);
  const [failure, setFailure] = createSignal('');
  const [isShown, setIsShown] = createSignal(true);
  return (
    <>
      <header>
        <h1>Issues</h1>
        <p class="count">{countText(open.count)}</p>
        <button type="button" onClick={() => setIsShown(!isShown())}>
          {isShown() ? 'Hide the list' : 'Show the list'}
        </button>
      </header>
      <form
        class="line"
        onSubmit={async (event) => {
          event.preventDefault();
          setFailure(await add(event.currentTarget));
        }}
      >
        <input
          name="title"
          autocomplete="off"
          aria-label="New issue"
          placeholder="What is to be done?"
        />
        <button type="submit">Add</button>
      </form>
      <p role="alert">{failure() || errorText(open.error)}</p>
      <Show when={isShown()}>
        <IssueList />
      </Show>
    </>
  );
}

function IssueList() {
  const [filter, setFilter] = createSignal<Filter>('open');
  const [failure, setFailure] = createSignal('');
  const list = useLive(() => issuesOf(filter()));
  return (
    <section aria-label="Issues" aria-busy={list.isStale}>
      <fieldset>
        <legend>Show</legend>
        <For each={FILTERS}>
          {(name) => (
            <label>
              <input
                type="radio"
                name="filter"
                checked={name === filter()}
                onChange={() => setFilter(name)}
              />
              {name}
            </label>
          )}
        </For>
      </fieldset>
      <ul>
        <For each={list.rows}>
          {(issue) => (
            <li>
              <button
                type="button"
                role="checkbox"
                aria-checked={issue.state === 'closed'}
                onClick={async () => setFailure(await toggle(issue))}
              >
                {issue.title}
              </button>
              <time>{timeText(issue.modified)}</time>
            </li>
          )}
        </For>
      </ul>
      <p class="hint">{emptyText(list.status, list.rows, filter())}</p>
      <p role="alert">{failure() || errorText(list.error)}</p>
    </section>
  );
}

render(() => <App />, document.querySelector('#app')!);
await frame('solid');

import { useLive, useLiveCount } from 'hedgerow/react';
import { StrictMode, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { add, issuesOf, openIssues, toggle } from '../common/issues.js';
import { frame } from '../common/page.js';
import { countText, emptyText, errorText, FILTERS, type Filter, timeText } from '../common/text.js';

function App() {
  const { count, error } = useLiveCount(openIssues);
  const [failure, setFailure] = useState('');
  const [isShown, setIsShown] = useState(true);
  return (
    <>
      <header>
        <h1>Issues</h1>
        <p className="count">{countText(count)}</p>
        <button type="button" onClick={() => setIsShown(!isShown)}>
          {isShown ? 'Hide the list' : 'Show the list'}
        </button>
      </header>
      <form
        className="line"
        onSubmit={async (event) => {
          event.preventDefault();
          setFailure(await add(event.currentTarget));
        }}
      >
        <input
          name="title"
          autoComplete="off"
          aria-label="New issue"
          placeholder="What is to be done?"
        />
        <button type="submit">Add</button>
      </form>
      <p role="alert">{failure || errorText(error)}</p>
      {isShown && <IssueList />}
    </>
  );
}

function IssueList() {
  const [filter, setFilter] = useState<Filter>('open');
  const [failure, setFailure] = useState('');
  const { status, rows, isStale, error } = useLive(issuesOf(filter));
  return (
    <section aria-label="Issues" aria-busy={isStale}>
      <fieldset>
        <legend>Show</legend>
        {FILTERS.map((name) => (
          <label key={name}>
            <input
              type="radio"
              name="filter"
              checked={name === filter}
              onChange={() => setFilter(name)}
            />
            {name}
          </label>
        ))}
      </fieldset>
      <ul>
        {rows.map((issue) => (
          <li key={issue.id}>
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
        ))}
      </ul>
      <p className="hint">{emptyText(status, rows, filter)}</p>
      <p role="alert">{failure || errorText(error)}</p>
    </section>
  );
}

createRoot(document.querySelector('#app')!).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
await frame('react');

import { useLiveCount } from 'hedgerow/react';
import { StrictMode, useRef, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { frame } from '../common/page.js';
import { errorText, messageOf, numberText } from '../common/text.js';
import { db, loadCities, numberOf, putInFront, removeNew, TOTAL } from './cities.js';
import { ROW_HEIGHT, VirtualList } from './VirtualList.js';

function App() {
  const { count, error } = useLiveCount(db.cities.all());
  const [failure, setFailure] = useState('');
  const scroller = useRef<HTMLElement>(null);
  const attempt = (work: () => Promise<unknown>) =>
    work().then(
      () => setFailure(''),
      (error) => setFailure(`Not done: ${messageOf(error)}`),
    );
  const show = (number: number) => {
    scroller.current!.scrollTop = number * ROW_HEIGHT;
  };
  return (
    <>
      <header>
        <h1>Cities of the world</h1>
        <p className="count">{count ? `${numberText(count)} cities` : ''}</p>
      </header>
      {count === 0 && <Loader attempt={attempt} />}
      {count !== undefined && count > 0 && (
        <>
          <form
            className="line"
            onSubmit={(event) => {
              event.preventDefault();
              const typed = new FormData(event.currentTarget).get('where') as string;
              void attempt(async () => show(await numberOf(typed)));
            }}
          >
            <input name="where" aria-label="Number or name" placeholder="Number or name" required />
            <button type="submit">Go there</button>
          </form>
          <p className="actions">
            <button type="button" onClick={() => show(Math.floor(Math.random() * count))}>
              Anywhere
            </button>
            <button type="button" onClick={() => attempt(putInFront)}>
              Put one in front
            </button>
            <button type="button" onClick={() => attempt(removeNew)}>
              Remove the new ones
            </button>
          </p>
          <VirtualList total={count} ref={scroller} />
        </>
      )}
      <p role="alert">{failure || errorText(error)}</p>
    </>
  );
}

function Loader({ attempt }: { attempt: (work: () => Promise<unknown>) => Promise<void> }) {
  const [rows, setRows] = useState<number>();
  if (rows !== undefined)
    return (
      <p className="progress">
        <progress value={rows} max={TOTAL} aria-label="Loaded" />
        <span>
          {numberText(rows)} of {numberText(TOTAL)}
        </span>
      </p>
    );
  const load = async () => {
    setRows(0);
    await attempt(() => loadCities(setRows));
    setRows(undefined);
  };
  return (
    <p className="actions">
      <button type="button" className="main" onClick={load}>
        Load all cities
      </button>
      <small>25 MB, once: then they are in the store of this browser.</small>
    </p>
  );
}

createRoot(document.querySelector('#app')!).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
await frame('cities');

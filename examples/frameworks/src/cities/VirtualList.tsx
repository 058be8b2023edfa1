import { useLive } from 'hedgerow/react';
import { memo, type Ref, useState } from 'react';
import { countryName } from '../../../../demo/src/cities.js';
import { errorText, numberText } from '../common/text.js';
import { type City, db } from './cities.js';

/** The height of a row, in pixels: fixed, so that a row's number determines its place. */
export const ROW_HEIGHT = 44;

/** Windows begin at multiples of this, so that most scrolling needs no query. */
const STEP = 20;
/** Rows in a window. It begins 20 to 39 rows above the first row on the screen, and so has 40 rows from there on. */
const LIMIT = 4 * STEP;

/** A list of any length: the browser's own scroll bar, and only the rows near the scrolled place. */
export function VirtualList({ total, ref }: { total: number; ref: Ref<HTMLElement> }) {
  const [first, setFirst] = useState(0);
  const { rows, isStale, error } = useLive(db.cities.all().offset(first).limit(LIMIT));
  // Rows of the window before stay in their places until the rows of this one are there.
  const [shownFirst, setShownFirst] = useState(first);
  if (!isStale && shownFirst !== first) setShownFirst(first);
  return (
    <>
      <section
        className="scroller"
        ref={ref}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the keys scroll it
        tabIndex={0}
        aria-label="Cities"
        aria-busy={isStale}
        style={{ '--row': `${ROW_HEIGHT}px` } as React.CSSProperties}
        onScroll={({ currentTarget: { scrollTop } }) => {
          const step = Math.floor(scrollTop / ROW_HEIGHT / STEP);
          setFirst(Math.max(0, step - 1) * STEP);
        }}
      >
        <ol style={{ height: total * ROW_HEIGHT }}>
          {rows.map((city, nth) => (
            <CityRow key={city.id} city={city} number={shownFirst + nth} total={total} />
          ))}
        </ol>
      </section>
      <p role="alert">{errorText(error)}</p>
    </>
  );
}

const CityRow = memo(({ city, number, total }: { city: City; number: number; total: number }) => (
  <li
    style={{ top: number * ROW_HEIGHT }}
    data-id={city.id}
    aria-posinset={number + 1}
    aria-setsize={total}
  >
    <span className="number">{numberText(number + 1)}</span>
    <span className="name">{city.name}</span>
    <span className="place">
      {[city.region, countryName(city.country)].filter(Boolean).join(', ')}
    </span>
    <span className="people">
      {city.population === undefined ? '' : numberText(city.population)}
    </span>
  </li>
));

// Checks the list of all rows for `headless.mjs`: scrolls to distant places and checks which rows the list shows, after
// how many frames, and that frames go on in the meantime.

import { join } from 'node:path';

/** Frames that the right rows may take after a scroll. Most take two. */
const MOST_FRAMES = 30;
/** The longest freeze allowed, however busy the machine: 834 ms were seen while other work used both cores. */
const MOST_GAP_MS = 3000;
/** Rows that the page may read to show the rows in view. */
const MOST_READ = 100;

/** Scrolls to a row. Returns the rows in view once all are there, and the frames and the longest gap until then. */
function jump(page, number) {
  return page.evaluate(
    async ([to, most]) => {
      const box = document.querySelector('#all-rows');
      const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
      await frame();
      const height = document.querySelector('#all-room').clientHeight / globalThis.demo.list.total;
      const before = box.scrollTop;
      box.scrollTop = to * height;
      let [frames, gapMs, lastMs] = [0, 0, performance.now()];
      const isThere = () => {
        const first = Math.min(Math.floor(box.scrollTop / height), globalThis.demo.list.total);
        const rows = [...document.querySelectorAll('#all-shown > li')];
        const isFirst = Number(rows[0]?.getAttribute('aria-posinset')) === first + 1;
        return isFirst && rows.every((row) => !row.classList.contains('awaited'));
      };
      do {
        await frame();
        frames += 1;
        gapMs = Math.max(gapMs, performance.now() - lastMs);
        lastMs = performance.now();
      } while (!isThere() && frames < 10 * most);
      const rows = [...document.querySelectorAll('#all-shown > li')].map((row) => ({
        number: Number(row.getAttribute('aria-posinset')) - 1,
        text: row.querySelector('.number').textContent,
        name: row.querySelector('.name').textContent,
        key: row.querySelector('.key').textContent,
      }));
      const view = box.getBoundingClientRect();
      const last = document.querySelector('#all-shown > li:last-child').getBoundingClientRect();
      const isFull = last.bottom >= view.bottom - 2;
      const { read } = globalThis.demo.list;
      return { frames, gapMs, rows, isFull, read, moved: box.scrollTop !== before };
    },
    [number, MOST_FRAMES],
  );
}

/** Moves the scroll bar from the first row to the last in `frames` frames. Returns the longest gap. */
function drag(page, frames) {
  return page.evaluate(async (count) => {
    const box = document.querySelector('#all-rows');
    let [gapMs, lastMs] = [0, performance.now()];
    for (let at = 0; at <= count; at++) {
      box.scrollTop = ((box.scrollHeight - box.clientHeight) * at) / count;
      await new Promise((resolve) => requestAnimationFrame(resolve));
      gapMs = Math.max(gapMs, performance.now() - lastMs);
      lastMs = performance.now();
    }
    return gapMs;
  }, frames);
}

/** Checks the list against all rows in the order of their keys. */
export async function checkList(page, { lines }, { say, check, ms, count }, directory) {
  await page.locator('#all-rows').scrollIntoViewIfNeeded();
  const total = lines.length;
  const isHere = (rows) =>
    rows.length > 5 &&
    rows.every(
      ({ number, text, name, key }, at) =>
        number === rows[0].number + at &&
        text === count(number) &&
        name === lines[number]?.name &&
        key === lines[number]?.id,
    );
  const picture = (name) =>
    directory &&
    page.locator('section.card:has(#all-rows)').screenshot({ path: join(directory, name) });
  const middle = Math.floor(total / 2);
  let [mostFrames, longestMs] = [0, 0];
  for (const number of [middle, total, 0, 1, total - 100, 12_345, middle + 1, 99_999, total]) {
    const { frames, gapMs, rows, isFull, read, moved } = await jump(page, number);
    const expected = Math.min(number, total - 1);
    const isShown = rows.some((row) => row.number === expected) && isHere(rows) && isFull;
    check(moved && isShown, `the list shows ${JSON.stringify(rows[0])} where row ${number} is`);
    check(read <= MOST_READ, `${read} rows were read to show ${rows.length}`);
    if (number === total) check(rows.at(-1)?.number === total - 1, 'the list ends before its end');
    [mostFrames, longestMs] = [Math.max(mostFrames, frames), Math.max(longestMs, gapMs)];
    if (number === middle) await picture('list-middle.png');
  }
  await picture('list-end.png');
  const dragMs = await drag(page, 120);
  say('list of all rows', `right after ${mostFrames} frames at most, the longest ${ms(longestMs)}`);
  say('  dragged over all', `longest frame gap ${ms(dragMs)}`);
  check(mostFrames <= MOST_FRAMES, `rows are there after ${mostFrames} frames`);
  check(Math.max(longestMs, dragMs) <= MOST_GAP_MS, 'frames stop while the list scrolls');

  await page.locator('#jump').fill('Reykj');
  await page.waitForFunction(() =>
    document.querySelector('#jump-call').textContent.includes('reykj'),
  );
  const rank = lines.findIndex(({ id }) => id >= 'reykj');
  const { rows } = await jump(page, rank);
  check(rows[0]?.key.startsWith('reykj') && isHere(rows), `"Reykj" jumps to ${rows[0]?.key}`);
  const said = await page.locator('#jump-answer').textContent();
  check(said.startsWith(`${count(rank)} in `), `the rank of "reykj" is ${said}, not ${rank}`);
}

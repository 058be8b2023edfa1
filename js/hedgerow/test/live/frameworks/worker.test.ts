// @vitest-environment happy-dom
/** The bindings show a store in a worker as they show one on the page. */
import { afterEach, describe, expect, it } from 'vitest';
import { memory, type Store } from '../../../src/index.js';
import { closeAll } from '../../support/doubles/worker-wire.js';
import { until } from '../../support/watching.js';
import { remoteOpen } from '../../support/worker-open.js';
import { angularOf } from './angular-page.js';
import {
  type Framework,
  isInDocument,
  isReady,
  issueOf,
  issues,
  keyed,
  last,
} from './framework.js';
import { reactOf } from './react-page.js';
import { solid } from './solid-page.js';
import { svelte } from './svelte-page.js';
import { vue } from './vue-page.js';

const FRAMEWORKS: Framework[] = [reactOf('React', true), vue, svelte, solid, angularOf('Angular')];

afterEach(closeAll);

describe.each(FRAMEWORKS)('$name', ({ mount, clear }) => {
  afterEach(clear);

  it('shows rows, a row and a count, moves a window and hears of changes', async () => {
    const options = { storage: memory(), tables: { issues } };
    const db = (await remoteOpen('worker', options)) as Store & {
      issues: { put(row: unknown): Promise<void>; all(): { offset(at: number): unknown } };
    };
    for (let at = 0; at < 5; at++) await db.issues.put(issueOf(at));
    const page = await mount('rows', db.issues.all());
    const row = await mount('row', db.issues, 'i1');
    const range = await mount('rows', db, { offset: 0, limit: 2 });
    const count = await mount('count', db);
    const pages = [page, row, range, count];
    await until(() => pages.every(isReady));
    expect(last(page).rows).toEqual([0, 1, 2, 3, 4].map(issueOf));
    expect(last(row).value).toEqual(issueOf(1));
    expect(last(count).count).toBe(5);
    const first = last(page).rows?.[0];
    range.set(db, { offset: 2, limit: 2 });
    row.set(db.issues, 'i3');
    await until(() => keyed(range, 0)?.[0] === 'issues/i2' && last(row).value !== undefined);
    await until(() => JSON.stringify(last(row).value) === JSON.stringify(issueOf(3)));
    await db.issues.put(issueOf(5));
    await until(() => last(page).rows?.length === 6 && last(count).count === 6);
    expect(last(page).rows?.[0]).toBe(first);
    await until(() => pages.every(isInDocument));
    page.set(undefined);
    await until(() => last(page).status === 'loading');
  });
});

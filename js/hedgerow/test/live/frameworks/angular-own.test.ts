// @vitest-environment happy-dom
/** The parts of Angular that other frameworks lack: injectors, signals, zones. */
import '@angular/compiler';
import { createEnvironmentInjector, Injector, PLATFORM_ID, signal } from '@angular/core';
import { createApplication } from '@angular/platform-browser';
import { afterEach, expect, it, vi } from 'vitest';
import {
  injectLive,
  injectLiveCount,
  injectLiveRow,
} from '../../../src/live/frameworks/angular.js';
import { rest, until, watches } from '../../support/watching.js';
import { issueOf, storeOf, tablesOf } from './framework.js';

afterEach(() => void vi.restoreAllMocks());

it('takes signals and functions, and an injector outside of an injection context', async () => {
  const db = await tablesOf(5);
  const app = await createApplication();
  const within = { injector: app.injector };
  const opened = signal<typeof db | undefined>(undefined);
  const [limit, key] = [signal(1), signal('i1')];
  const list = injectLive(() => db.issues.all().limit(limit()), within);
  const range = injectLive(opened, () => ({ prefix: 'issues/', limit: limit() }), within);
  const row = injectLiveRow(() => opened()?.issues, key, within);
  const count = injectLiveCount(opened, undefined, within);
  const counted = injectLiveCount(db.issues.where({ state: 'open' }), within);
  expect([list().rows.length, range().status, row().status, count().status]).toEqual([
    ...[1, 'loading', 'loading', 'loading'],
  ]);
  opened.set(db);
  limit.set(2);
  expect([list().rows.length, range().rows.length, row().value]).toEqual([2, 2, issueOf(1)]);
  expect([count().count, counted().count]).toEqual([5, 3]);
  key.set('i2');
  expect(row().value).toEqual(issueOf(2));
  app.tick();
  await db.issues.put({ ...issueOf(2), state: 'closed' });
  await until(() => row().value?.state === 'closed' && counted().count === 2);
  app.destroy();
});

it('is refused by name outside of an injection context without an injector', async () => {
  const db = await storeOf(1);
  expect(() => injectLive(db)).toThrow('injectLive() can only be used within an injection context');
  expect(() => injectLiveRow(db, 'k0')).toThrow('injectLiveRow()');
  expect(() => injectLiveCount(db, {})).toThrow('injectLiveCount()');
});

it('ends with its injector', async () => {
  const db = await storeOf(3);
  const seen = watches(db);
  const app = await createApplication();
  const injector = createEnvironmentInjector([], app.injector);
  const list = injectLive(db, { limit: 2 }, { injector });
  app.tick();
  expect(list().rows.length).toBe(2);
  await db.delete('k0');
  await until(() => list().rows[0]?.[0] === 'k1');
  injector.destroy();
  await until(() => seen.now === 0);
  app.destroy();
});

it('is loading on a server, and does not read there', async () => {
  const db = await storeOf(3);
  const seen = watches(db);
  const app = await createApplication();
  const providers = [{ provide: PLATFORM_ID, useValue: 'server' }];
  const injector = Injector.create({ providers, parent: app.injector });
  const list = injectLive(db, {}, { injector });
  const row = injectLiveRow(db, 'k0', { injector });
  const count = injectLiveCount(db, {}, { injector });
  app.tick();
  await rest();
  const loading = { status: 'loading', isStale: false, error: undefined };
  expect([list(), row(), count()]).toEqual([
    ...[{ rows: [], offset: 0 }, { value: undefined }, { count: undefined }].map((own) => ({
      ...loading,
      ...own,
    })),
  ]);
  expect(seen.begun).toBe(0);
  app.destroy();
});

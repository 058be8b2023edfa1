/** A service worker that has a store: all of the library in one file, since it can load no code later. */
import { open, rowType, serve, table } from 'hedgerow/full';
import { issuesOf } from './remote-issues.js';

const scope = self as unknown as {
  skipWaiting(): Promise<void>;
  addEventListener(name: 'install', listener: () => void): void;
};
scope.addEventListener('install', () => void scope.skipWaiting());

const name = new URL(location.href).searchParams.get('store') ?? 'service';
serve({ open: () => open(name, { tables: issuesOf({ rowType, table }) }) });

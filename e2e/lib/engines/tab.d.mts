import type { Page } from '@playwright/test';
import type { EngineBrowser } from './index.mjs';

/** What specs that run in every engine may use of a page. */
export type Tab = Pick<
  Page,
  | 'evaluate'
  | 'waitForFunction'
  | 'goto'
  | 'reload'
  | 'url'
  | 'close'
  | 'isClosed'
  | 'exposeFunction'
> & { context(): TabContext };

/** What such specs may use of a running browser. */
export class TabContext {
  constructor(browser: EngineBrowser, baseURL: string);
  newPage(): Promise<Tab>;
  pages(): Tab[];
  close(): Promise<void>;
}

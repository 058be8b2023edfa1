import type { Page } from '@playwright/test';
import type { EngineBrowser, EngineName } from './index.mjs';

/** What specs that run in every engine may use of a page. */
export type AnyPage = Pick<
  Page,
  | 'evaluate'
  | 'waitForFunction'
  | 'goto'
  | 'reload'
  | 'url'
  | 'close'
  | 'isClosed'
  | 'exposeFunction'
> & { context(): AnyContext };

/** What such specs may use of a running browser. */
export interface AnyContext {
  newPage(): Promise<AnyPage>;
  pages(): AnyPage[];
  close(): Promise<void>;
}

export declare class TabContext implements AnyContext {
  readonly name: EngineName;
  /** Its first process. */
  readonly pid: number;
  /** The browser was closed. */
  readonly isOver: boolean;
  constructor(browser: EngineBrowser, baseURL: string);
  newPage(): Promise<Tab>;
  pages(): Tab[];
  close(): Promise<void>;
}

/** A page of an engine that Playwright did not start. */
export interface Tab extends AnyPage {}
export declare class Tab {
  private constructor();
  context(): TabContext;
  /** The errors that nobody has caught; none once it is closed. */
  uncaught(): Promise<string[]>;
}

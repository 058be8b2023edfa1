import type { Page } from '@playwright/test';
import type { EngineBrowser, EngineName } from './index.mjs';

/** The calls of a page that specs for all engines may use. */
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

/** The calls of a running browser that such specs may use. */
export interface AnyContext {
  newPage(): Promise<AnyPage>;
  pages(): AnyPage[];
  close(): Promise<void>;
}

export declare class TabContext implements AnyContext {
  readonly name: EngineName;
  /** Its first process. */
  readonly pid: number;
  /** Whether the browser was closed. */
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
  /** Returns the uncaught errors; an empty list once it is closed. */
  uncaught(): Promise<string[]>;
}

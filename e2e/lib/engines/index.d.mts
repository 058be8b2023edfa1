/** A running browser; see `index.mjs`. */
export interface EngineBrowser {
  readonly name: string;
  readonly version: string;
}

export interface LaunchOptions {
  readonly quotaBytes?: number;
  /** All windows are private ones. */
  readonly isPrivate?: boolean;
  /** Preferences of Firefox. */
  readonly prefs?: Readonly<Record<string, unknown>>;
}

export interface Engine {
  readonly name: string;
  /** What it is, whatever keeps its IndexedDB. */
  readonly browser: 'chromium' | 'firefox' | 'webkit';
  /** The library that must keep IndexedDB; others are as they are. */
  readonly backend?: 'sqlite' | undefined;
  find(): { readonly path: string; readonly version: string } | undefined;
  launch(profileDir: string, options?: LaunchOptions): Promise<EngineBrowser>;
}

export interface ChromiumEngine extends Engine {
  /** What Chromium is started with beside what Playwright gives it. */
  readonly args: readonly string[];
}

export type EngineName = 'chromium' | 'chromium-sqlite' | 'firefox' | 'webkit';

export const ENGINES: {
  readonly chromium: ChromiumEngine;
  readonly 'chromium-sqlite': ChromiumEngine;
  readonly firefox: Engine;
  readonly webkit: Engine;
};
export function isChromium(name: EngineName): boolean;
export function installed(engines?: readonly Engine[]): Engine[];
export function enginesOf(names: readonly string[]): Engine[];

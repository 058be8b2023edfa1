/** A running browser; see `index.mjs`. */
export interface EngineBrowser {
  readonly name: string;
  readonly version: string;
}

export interface LaunchOptions {
  readonly quotaBytes?: number;
  /** Whether all windows are private. */
  readonly isPrivate?: boolean;
  /** Preferences of Firefox. */
  readonly prefs?: Readonly<Record<string, unknown>>;
}

export interface Engine {
  readonly name: string;
  /** The browser, whatever library keeps IndexedDB. */
  readonly browser: 'chromium' | 'firefox' | 'webkit';
  /** The library that must keep IndexedDB; `undefined` allows any. */
  readonly backend?: 'sqlite' | undefined;
  find(): { readonly path: string; readonly version: string } | undefined;
  launch(profileDir: string, options?: LaunchOptions): Promise<EngineBrowser>;
}

export interface ChromiumEngine extends Engine {
  /** The arguments of Chromium in addition to Playwright's. */
  readonly args: readonly string[];
}

/** Flags of every Chromium: see `chromium.mjs`. */
export declare const QUIET_FLAGS: readonly string[];

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

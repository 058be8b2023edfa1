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
  find(): { readonly path: string; readonly version: string } | undefined;
  launch(profileDir: string, options?: LaunchOptions): Promise<EngineBrowser>;
}

export const ENGINES: { readonly [name in 'chromium' | 'firefox' | 'webkit']: Engine };
export function installed(engines?: readonly Engine[]): Engine[];
export function enginesOf(names: readonly string[]): Engine[];

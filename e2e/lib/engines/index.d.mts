/** A running browser; see `index.mjs`. */
export interface EngineBrowser {
  readonly name: string;
  readonly version: string;
}

export interface Engine {
  readonly name: string;
  find(): { readonly path: string; readonly version: string } | undefined;
  launch(
    profileDir: string,
    options?: { readonly quotaBytes?: number; readonly isPrivate?: boolean },
  ): Promise<EngineBrowser>;
}

export const ENGINES: { readonly [name in 'chromium' | 'firefox' | 'webkit']: Engine };
export function installed(engines?: readonly Engine[]): Engine[];
export function enginesOf(names: readonly string[]): Engine[];

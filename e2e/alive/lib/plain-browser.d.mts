import type { Page } from '@playwright/test';
import type { Engine } from '../../lib/engines/index.mjs';

export function withPlainBrowser<T>(
  browser: { profileDir: string; engine?: Engine },
  work: (page: Page) => Promise<T>,
): Promise<T>;

export function covered<T>(page: Page, work: () => Promise<T>): Promise<T>;

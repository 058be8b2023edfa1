import type { Page } from '@playwright/test';

export function withPlainBrowser<T>(
  browser: { profileDir: string; executablePath?: string | undefined },
  work: (page: Page) => Promise<T>,
): Promise<T>;

export function covered<T>(page: Page, work: () => Promise<T>): Promise<T>;

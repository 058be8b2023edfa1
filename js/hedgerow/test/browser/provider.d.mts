import type { BrowserProviderOption } from 'vitest/node';

export function engines(): BrowserProviderOption;

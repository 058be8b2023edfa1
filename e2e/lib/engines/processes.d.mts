import type { Tab } from './tab.mjs';

export function processesBelow(
  pid: number,
): { readonly id: number; readonly parent: number; readonly command: string }[];
export function stopProcessOf(page: Tab, other: Tab): Promise<number>;

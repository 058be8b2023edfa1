/** Reads and writes the hash of the page's address: reloads and links return to the same view. */

export const TABS = [
  'rows',
  'branches',
  'compare',
  'storage',
  'tabs',
  'check',
  'file',
  'time',
] as const;
export type Tab = (typeof TABS)[number];

/** The view of the page. */
export interface PageAddress {
  readonly store?: string | undefined;
  readonly branch?: string | undefined;
  readonly tab: Tab;
}

const isTab = (text: string | null): text is Tab => TABS.some((tab) => tab === text);

/** Parses a hash, which may lack the store and the branch. */
export function parsePageAddress(hash: string): PageAddress {
  const params = new URLSearchParams(hash.replace(/^#/, ''));
  const tab = params.get('tab');
  return {
    store: params.get('store') ?? undefined,
    branch: params.get('branch') ?? undefined,
    tab: isTab(tab) ? tab : 'rows',
  };
}

/** Returns the hash of a view. */
export function hashOf({ store, branch, tab }: PageAddress): string {
  if (store === undefined) return '';
  const params = new URLSearchParams({ store });
  if (branch !== undefined && branch !== 'main') params.set('branch', branch);
  if (tab !== 'rows') params.set('tab', tab);
  return `#${params}`;
}

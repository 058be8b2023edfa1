/** Where the page is, in the hash of its address: reloads and links come back to it. */

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

/** What is shown. */
export interface PageAddress {
  readonly store?: string | undefined;
  readonly branch?: string | undefined;
  readonly tab: Tab;
}

const isTab = (text: string | null): text is Tab => TABS.some((tab) => tab === text);

/** What a hash says; what it does not say is missing. */
export function parsePageAddress(hash: string): PageAddress {
  const params = new URLSearchParams(hash.replace(/^#/, ''));
  const tab = params.get('tab');
  return {
    store: params.get('store') ?? undefined,
    branch: params.get('branch') ?? undefined,
    tab: isTab(tab) ? tab : 'rows',
  };
}

/** The hash of what is shown. */
export function hashOf({ store, branch, tab }: PageAddress): string {
  if (store === undefined) return '';
  const params = new URLSearchParams({ store });
  if (branch !== undefined && branch !== 'main') params.set('branch', branch);
  if (tab !== 'rows') params.set('tab', tab);
  return `#${params}`;
}

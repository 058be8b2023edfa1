export interface PageBlock {
  readonly language: string;
  readonly code: string;
  readonly detail: string | undefined;
  readonly isCompiled: boolean;
  readonly why: string | undefined;
}
export function pages(): string[];
export function blocksOf(page: string): PageBlock[];
export function staleEntries(): string[];
export function isFollowed(why: string | undefined): boolean;

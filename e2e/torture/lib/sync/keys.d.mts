export const SHARED_KEYS: number;
export const SHARED: string;
export const BASE: string;
export function numbered(prefix: string, nth: number): string;

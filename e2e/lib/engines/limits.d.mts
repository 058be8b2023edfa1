export function within<T>(ms: number, what: string, promise: Promise<T>): Promise<T>;
export function pause(ms: number): Promise<void>;

import { isDevelopment } from './development.js';
import { isPlain } from './kind.js';

/**
 * A value that several callers get. In builds for development plain objects and lists of it are frozen, as deep as they go:
 * one caller would change what the others see.
 */
export function freezeShared<T>(value: T): T {
  if (isDevelopment) freeze(value);
  return value;
}

function freeze(value: unknown): void {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return;
  if (!Array.isArray(value) && !isPlain(value)) return;
  Object.freeze(value);
  for (const member of Object.values(value)) freeze(member);
}

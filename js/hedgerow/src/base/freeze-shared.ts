import { isDevelopment } from './development.js';
import { isPlain } from './runtime-type-checks.js';

/**
 * Returns a value that several callers get. Builds for development freeze its plain objects and lists deeply: otherwise
 * one caller could change the value of the others.
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

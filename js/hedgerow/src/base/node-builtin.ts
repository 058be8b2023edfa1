/** Modules of Node. The package is compiled without Node's types, since it also runs elsewhere: callers name types. */
import { HedgerowError } from './errors.js';

/** Returns a module of Node; throws `unsupported` elsewhere. `entry` is the entry of the package that needs it. */
export function builtin<T>(name: string, entry: string): T {
  const found = builtinIfAny<T>(name);
  if (found === undefined)
    throw new HedgerowError('unsupported', `${entry} needs Node 20.19 or newer`);
  return found;
}

/** Returns a module of Node; `undefined` elsewhere. */
export function builtinIfAny<T>(name: string): T | undefined {
  const { process } = globalThis as { process?: { getBuiltinModule?(name: string): unknown } };
  return process?.getBuiltinModule?.(name) as T | undefined;
}

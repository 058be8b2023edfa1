/** Replaces a method of one object, until this is undone; its class and other objects keep theirs. */

type Method = (...args: never[]) => unknown;

/**
 * Replaces a method by the result of `make`; returns a function that undoes this. Leaves an object without such a
 * method.
 */
export function replaceMethod(
  object: object,
  name: string | symbol,
  make: (original: (...args: unknown[]) => unknown) => (...args: never[]) => unknown,
): () => void {
  const own = Object.getOwnPropertyDescriptor(object, name);
  const method = Reflect.get(object, name) as Method | undefined;
  if (typeof method !== 'function') return () => {};
  const value = make((...args) => Reflect.apply(method, object, args));
  Object.defineProperty(object, name, { value, configurable: true, writable: true });
  return () => {
    // Other code may have replaced it again.
    if (Reflect.get(object, name) !== value) return;
    if (own === undefined) Reflect.deleteProperty(object, name);
    else Object.defineProperty(object, name, own);
  };
}

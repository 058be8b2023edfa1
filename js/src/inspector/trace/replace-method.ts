/** Replaces a method of one object, until it is undone: its class, and other objects, are as they were. */

type Method = (...args: never[]) => unknown;

/** Replaces a method by what `make` makes of it; returns how to undo that. Does nothing where there is none. */
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
    // Somebody else may have replaced it once more.
    if (Reflect.get(object, name) !== value) return;
    if (own === undefined) Reflect.deleteProperty(object, name);
    else Object.defineProperty(object, name, own);
  };
}

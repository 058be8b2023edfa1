/** The page of `tests/slim.spec.ts`: the library with its WebAssembly in separate files. */
window.hedgerow = await import('hedgerow/slim');

export {};

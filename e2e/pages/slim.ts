/** The page of `tests/slim.spec.ts`: the library with its WebAssembly in files of their own. */
window.hedgerow = await import('hedgerow/slim');

export {};

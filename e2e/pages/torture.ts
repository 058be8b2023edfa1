/** The page of `tests/torture.spec.ts`: what `npm run torture` does to a store. */
import '../torture/page/main.js';

/** The page of `tests/torture.spec.ts`: treats a store like `npm run torture`. */
import '../torture/page/main.js';

/** The page of `tests/alive*.spec.ts`: the loads and the probes of `npm run alive`. */
import '../alive/page/main.js';

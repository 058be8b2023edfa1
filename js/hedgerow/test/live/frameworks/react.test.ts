// @vitest-environment happy-dom
/** The hooks of `hedgerow/react`. */

import { sampled } from '../../support/property.js';
import { reactOf } from './react-page.js';
import { behaves } from './suite.js';

for (const isStrict of sampled([false, true], 2)) {
  behaves(reactOf(isStrict ? 'React in StrictMode' : 'React', isStrict));
}

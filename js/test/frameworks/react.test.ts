// @vitest-environment happy-dom
/** The hooks of `hedgerow/react`. */

import { reactOf } from './react-page.js';
import { behaves } from './suite.js';

behaves(reactOf('React', false));
behaves(reactOf('React in StrictMode', true));

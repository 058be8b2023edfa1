// @vitest-environment happy-dom
/** The composables of `hedgerow/vue`. */
import { behaves } from './suite.js';
import { vue } from './vue-page.js';

behaves(vue);

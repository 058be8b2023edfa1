// @vitest-environment happy-dom
/** `hedgerow/solid`. */
import { solid } from './solid-page.js';
import { behaves } from './suite.js';

behaves(solid);

// @vitest-environment happy-dom
/** `hedgerow/svelte`. */
import { behaves } from './suite.js';
import { svelte } from './svelte-page.js';

behaves(svelte);

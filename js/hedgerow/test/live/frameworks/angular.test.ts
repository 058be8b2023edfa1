// @vitest-environment happy-dom
/** `hedgerow/angular`, in an application without zones. */
import { angularOf } from './angular-page.js';
import { behaves } from './suite.js';

behaves(angularOf('Angular'));

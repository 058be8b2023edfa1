/** The script of the page `@hedgerow/inspector/page.html`, which `scripts/lib/inspector.mjs` puts into it. */

import { Shell } from './view/shell.js';

const root = document.getElementById('inspector');
if (root) new Shell(root);

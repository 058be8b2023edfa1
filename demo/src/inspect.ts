/** Opens the inspector on the store of this page, and traces the store from then on. Loaded on demand. */
import { openInspector } from '@hedgerow/inspector';
import { STORE } from './cities.js';

export { trace } from '@hedgerow/inspector/trace';

const page = new URL('@hedgerow/inspector/page.html', import.meta.url);

/** Opens it in its own window. */
export function inspect(): void {
  openInspector({ page, store: STORE });
}

/** The inspector on the store of this page, which is traced from then on. Loaded when somebody asks for it. */
import { openInspector } from 'hedgerow/inspector';
import { STORE } from './cities.js';

export { trace } from 'hedgerow/trace';

const page = new URL('hedgerow/inspector/page.html', import.meta.url);

/** Opens it in a window of its own. */
export function inspect(): void {
  openInspector({ page, store: STORE });
}

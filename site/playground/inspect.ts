/** The inspector on the stores that programs keep in IndexedDB: they belong to this origin, as the page of it does. */
import { openInspector } from 'hedgerow/inspector';

const page = new URL('hedgerow/inspector/page.html', import.meta.url);

/** Opens it in a window of its own. Throws `blocked` when the browser opens none. */
export function inspect(): void {
  openInspector({ page });
}

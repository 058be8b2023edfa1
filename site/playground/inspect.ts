/**
 * Opens the inspector on the stores that programs keep in IndexedDB: they belong to this origin, like the inspector's
 * page.
 */
import { openInspector } from '@hedgerow/inspector';

const page = new URL('@hedgerow/inspector/page.html', import.meta.url);

/** Opens it in its own window. Throws `blocked` when the browser opens none. */
export function inspect(): void {
  openInspector({ page });
}

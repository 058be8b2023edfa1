import { messageOf } from './text.js';

/** Waits for a store that is being opened. If that fails, the page shows the reason in the place of the app. */
export async function opened<Store>(opening: Promise<Store>): Promise<Store> {
  try {
    return await opening;
  } catch (error) {
    const reason = document.createElement('p');
    reason.role = 'alert';
    reason.textContent = `The store cannot be opened: ${messageOf(error)}`;
    document.querySelector('#app')!.replaceChildren(reason);
    throw error;
  }
}

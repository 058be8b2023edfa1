/** Shares text by a link: in its fragment, which browsers do not send, as base64url. */

/** Reads a part of the fragment; `undefined` if it is missing or malformed. */
export function fromFragment(fragment: string, name: string): string | undefined {
  const coded = new URLSearchParams(fragment.replace(/^#/, '')).get(name);
  if (coded === null || !/^[\w-]+$/.test(coded)) return undefined;
  try {
    const binary = atob(coded.replaceAll('-', '+').replaceAll('_', '/'));
    const bytes = Uint8Array.from(binary, (letter) => letter.charCodeAt(0));
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** Writes the fragment, with its `#`. */
export function toFragment(name: string, text: string): string {
  let binary = '';
  for (const byte of new TextEncoder().encode(text)) binary += String.fromCharCode(byte);
  return `#${name}=${btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')}`;
}

/** Returns the address of this page with another fragment, and without a query. */
export function linkTo(fragment: string): string {
  return location.origin + location.pathname + fragment;
}

/** Copies a text; `false` where the browser does not let a page do that. */
export async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

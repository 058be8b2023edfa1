import type { SumRoot } from 'hedgerow/proofs';

/**
 * The input of a verifier: the root, the claim and the proof, as the fragment of an address. Browsers do not send
 * fragments to servers.
 */
export interface Handover {
  readonly root: SumRoot;
  readonly key: string;
  /** The value claimed under the key; `null` claims that the key is absent. */
  readonly claim: { readonly value: string; readonly sum: bigint } | null;
  readonly proof: Uint8Array;
}

/** Writes a handover as a fragment, without `#`. */
export function toFragment({ root, key, claim, proof }: Handover): string {
  const fields = new URLSearchParams({ root: root.hash, total: String(root.sum), key });
  if (claim !== null) {
    fields.set('value', claim.value);
    fields.set('sum', String(claim.sum));
  }
  const text = btoa(String.fromCharCode(...proof));
  fields.set('proof', text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', ''));
  return fields.toString();
}

/** Reads a fragment; `undefined` when a part is missing or malformed. */
export function fromFragment(fragment: string): Handover | undefined {
  const fields = new URLSearchParams(fragment.replace(/^#/, ''));
  const [hash, total, key] = ['root', 'total', 'key'].map((name) => fields.get(name));
  const [value, sum, text] = ['value', 'sum', 'proof'].map((name) => fields.get(name));
  if (hash == null || total == null || key == null || text == null) return undefined;
  try {
    const bytes = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
    return {
      root: { hash, sum: BigInt(total) },
      key,
      claim: value == null || sum == null ? null : { value, sum: BigInt(sum) },
      proof: Uint8Array.from(bytes, (byte) => byte.charCodeAt(0)),
    };
  } catch {
    return undefined;
  }
}

/** Writes bytes in hexadecimal. */
export function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Reads hexadecimal; `undefined` for other text. */
export function fromHex(text: string): Uint8Array | undefined {
  const digits = text.replace(/\s/g, '');
  if (!/^([0-9a-f]{2})*$/i.test(digits)) return undefined;
  return Uint8Array.from(digits.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}

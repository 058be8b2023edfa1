/** Compiles modules with a maximum for their memory, in pages of 64 KiB. */

function unsigned(value: number): number[] {
  const low = value & 0x7f;
  return value < 0x80 ? [low] : [low | 0x80, ...unsigned(value >>> 7)];
}

function readUnsigned(bytes: Uint8Array, at: number): { value: number; end: number } {
  let [value, end] = [0, at];
  for (let shift = 0; ; shift += 7) {
    const byte = bytes[end++] ?? 0;
    value += (byte & 0x7f) * 2 ** shift;
    if (byte < 0x80) return { value, end };
  }
}

const MEMORY_SECTION = 5;

/** Returns a module whose own memory has a maximum; a module without its own memory stays unchanged. */
export function limited(
  module: Uint8Array<ArrayBuffer>,
  maxPages: number,
): Uint8Array<ArrayBuffer> {
  let at = 8;
  while (at < module.length) {
    const { value: length, end: start } = readUnsigned(module, at + 1);
    if (module[at] === MEMORY_SECTION) {
      // The memory count, its flags, its minimum.
      const { value: minimum } = readUnsigned(module, start + 2);
      const section = [1, 1, ...unsigned(minimum), ...unsigned(maxPages)];
      const head = [...module.subarray(0, at), MEMORY_SECTION, ...unsigned(section.length)];
      return Uint8Array.from([...head, ...section, ...module.subarray(start + length)]);
    }
    at = start + length;
  }
  return module; // the later part uses the memory of the first
}

/** Makes all later compilations limit the memory. */
export function limitMemory(maxPages: number): void {
  const compile = WebAssembly.compile;
  Object.assign(WebAssembly, {
    compile: (bytes: ArrayBuffer) => compile(limited(new Uint8Array(bytes), maxPages)),
  });
}

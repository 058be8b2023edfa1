/** The smallest module with an instruction of SIMD: `(func i32.const 0 i8x16.splat drop)`. */
export const SIMD_MODULE = Uint8Array.of(
  ...[0, 97, 115, 109, 1, 0, 0, 0, 1, 4, 1, 96, 0, 0, 3, 2, 1, 0],
  ...[10, 9, 1, 7, 0, 65, 0, 253, 15, 26, 11],
);

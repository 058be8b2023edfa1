/** The used exports of the package, which only apps for phones have. */
declare module '@op-engineering/op-sqlite' {
  export const open: unknown;
  export const isSQLCipher: unknown;
  export const isLibsql: unknown;
}

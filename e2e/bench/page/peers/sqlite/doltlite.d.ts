/** doltlite-wasm has the API of sqlite-wasm, and no types of its own. */
declare module '@dolthub/doltlite-wasm' {
  export { default } from '@sqlite.org/sqlite-wasm';
}

/** What tests use of Node's `path`. */
export { basename, relative } from 'pathe';

/** The part of Node's `path` that tests use. */
export { basename, relative } from 'pathe';

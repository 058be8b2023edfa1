/** Node's `Buffer`, for browsers. */
export { Buffer } from 'buffer/';

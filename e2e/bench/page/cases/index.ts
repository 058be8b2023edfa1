/** All cases, in the order in which they run: those that write first, see `stored`. */
import type { BenchCase } from '../bench-case.js';
import { GET, GET_MANY } from './get.js';
import { LOAD, LOAD_SHUFFLED } from './load.js';
import { OPEN } from './open.js';
import { PUT } from './put.js';
import { SCAN } from './scan.js';
import { SLICING } from './slicing.js';
import { UPDATE } from './update.js';

export const CASES: readonly BenchCase[] = [
  LOAD,
  LOAD_SHUFFLED,
  UPDATE,
  SLICING,
  PUT,
  SCAN,
  GET,
  GET_MANY,
  OPEN,
];

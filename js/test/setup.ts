/** Runs before each suite. */
import { expect } from 'vitest';
import { sameBytes } from './same-bytes.js';

expect.addEqualityTesters([sameBytes]);

/** `@op-engineering/op-sqlite` in tests that name no version. */
import { nodePackage } from './op-sqlite-shapes.js';

export const { open, isSQLCipher, isLibsql } = nodePackage('18');

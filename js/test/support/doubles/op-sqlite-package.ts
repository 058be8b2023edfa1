/** What `@op-engineering/op-sqlite` is in tests, where nobody names a version. */
import { nodePackage } from './op-sqlite-shapes.js';

export const { open, isSQLCipher, isLibsql } = nodePackage('18');

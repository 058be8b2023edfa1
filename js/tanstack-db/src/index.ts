/** `@hedgerow/tanstack-db`: tables as collections of TanStack DB, and the persistence of other collections. */

export {
  type CollectionKey,
  type HedgerowCollectionConfig,
  type HedgerowCollectionOptions,
  type HedgerowUtils,
  hedgerowCollectionOptions,
} from './collection-options.js';
export { type HedgerowPersistenceOptions, hedgerowPersistence } from './persistence.js';
export type {
  HedgerowCoordinator,
  HedgerowPersistence,
  HedgerowPersistenceAdapter,
} from './persistence-types.js';

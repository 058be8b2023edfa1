/** The suites of the checkout that need no server. The folder's own index also imports the suites of Electric. */
// @ts-nocheck: the files are in a checkout, which the compiler does not know.

export { generateSeedData } from 'tanstack-db-checkout/packages/db-collection-e2e/src/fixtures/seed-data';

import { createCollationTestSuite } from 'tanstack-db-checkout/packages/db-collection-e2e/src/suites/collation.suite';
import { createDeduplicationTestSuite } from 'tanstack-db-checkout/packages/db-collection-e2e/src/suites/deduplication.suite';
import { createJoinsTestSuite } from 'tanstack-db-checkout/packages/db-collection-e2e/src/suites/joins.suite';
import { createLiveUpdatesTestSuite } from 'tanstack-db-checkout/packages/db-collection-e2e/src/suites/live-updates.suite';
import { createMutationsTestSuite } from 'tanstack-db-checkout/packages/db-collection-e2e/src/suites/mutations.suite';
import { createPaginationTestSuite } from 'tanstack-db-checkout/packages/db-collection-e2e/src/suites/pagination.suite';
import { createPredicatesTestSuite } from 'tanstack-db-checkout/packages/db-collection-e2e/src/suites/predicates.suite';

/** Declares the tests of all suites. */
export function runSuites(getConfig: () => Promise<unknown>): void {
  createPredicatesTestSuite(getConfig);
  createPaginationTestSuite(getConfig);
  createJoinsTestSuite(getConfig);
  createDeduplicationTestSuite(getConfig);
  createCollationTestSuite(getConfig);
  createMutationsTestSuite(getConfig);
  createLiveUpdatesTestSuite(getConfig);
}

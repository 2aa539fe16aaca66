import { testSeeds } from './testing/seed-batches.ts';

// The other half is in more-seeds.test.ts, so that two cores share the work.
testSeeds({ skip: 0, count: 100 });

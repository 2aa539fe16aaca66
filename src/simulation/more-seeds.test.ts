import { testSeeds } from './testing/seed-batches.ts';

testSeeds({ skip: 100, count: 100 });

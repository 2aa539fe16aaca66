import { testSeeds } from './testing/seed-batches.ts';

testSeeds(31, 60);

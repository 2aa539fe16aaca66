import { testSeeds } from './testing/seed-batches.ts';

testSeeds(51, 100);

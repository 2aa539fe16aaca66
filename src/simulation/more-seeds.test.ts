import { testSeeds } from './testing/seed-batches.ts';

testSeeds(101, 200);

import { describe } from 'vitest';
import { clusterContract } from '../../src/cluster/testing/cluster.contract.ts';
import { lacks, serverPrograms, sharedTestBed } from './vitest-beds.ts';

describe.skipIf(lacks(...serverPrograms))('the real API server', () => {
  const bed = sharedTestBed();
  clusterContract('kube-apiserver', async () => {
    const cluster = await bed().connect();
    return { cluster, close: async () => {} };
  });
});

import { readFileSync } from 'node:fs';
import { afterAll, beforeAll } from 'vitest';
import { EmbeddedServer } from '../../../src/apiserver/embedded-server.ts';
import { realClock } from '../../../src/runtime/clock.ts';
import { systemIds } from '../../../src/runtime/ids.ts';
import { systemRandom } from '../../../src/runtime/random.ts';
import { addressOf, type ServerAddress } from '../../fidelity/http-client.ts';
import { sharedTestBed } from '../vitest-beds.ts';

export interface BothServers {
  readonly real: ServerAddress;
  readonly ours: ServerAddress;
}

export interface ServersInTest {
  /** For use within tests. */
  servers(): BothServers;
  /** Internal errors of our server; tests check that there are none. */
  readonly bugs: readonly unknown[];
}

/** For all tests of a `describe`: kube-apiserver, and our server in this process, both without controllers. */
export function bothServers(): ServersInTest {
  const bed = sharedTestBed();
  const bugs: unknown[] = [];
  let embedded: EmbeddedServer;
  beforeAll(async () => {
    embedded = await EmbeddedServer.start({
      clock: realClock,
      ids: systemIds,
      random: systemRandom,
      onError: (error, where) => bugs.push(where, error),
    });
  });
  afterAll(async () => {
    await embedded.close();
  });
  return {
    bugs,
    servers: () => ({
      real: addressOf(readFileSync(bed().kubeconfig, 'utf8')),
      ours: addressOf(embedded.kubeconfig),
    }),
  };
}

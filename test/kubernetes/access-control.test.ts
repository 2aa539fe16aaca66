import { describe, expect, test } from 'vitest';
import { HttpClient, type ServerAddress } from '../fidelity/http-client.ts';
import { comparePolicy, type PolicyComparison } from './access-control/compare-policy.ts';
import { randomPolicy } from './access-control/random-policy.ts';
import { bothServers } from './testing/both-servers.ts';
import { lacks, serverPrograms } from './vitest-beds.ts';

/**
 * Random roles, bindings, users and access questions, the same in every run. To see others, more, or one again:
 *
 *     ACCESS_SEED=1234 ACCESS_POLICIES=200 npm run test:kubernetes -- test/kubernetes/access-control.test.ts
 */
const firstSeed = Number(process.env.ACCESS_SEED ?? 1);
const policyCount = Number(process.env.ACCESS_POLICIES ?? 8);
const policySize = 12;
const policyMaxMs = 60_000;
const shownMax = 10;

describe.skipIf(lacks('1.36', ...serverPrograms))('access control compared with the real server', () => {
  const { servers, bugs } = bothServers();

  test(
    'random policies allow the same users the same requests',
    async () => {
      const all: PolicyComparison[] = [];
      for (let seed = firstSeed; seed < firstSeed + policyCount; seed++) {
        all.push(await comparePolicy(servers(), randomPolicy(seed, policySize)));
      }
      const differences = all.flatMap(({ differences: found }) => found);
      expect(differences.slice(0, shownMax).join('\n'), `${differences.length} in all`).toBe('');
      expect(bugs).toEqual([]);
      // The test is effective only if some requests were allowed.
      expect(sum(all.map(({ allowed }) => allowed))).toBeGreaterThan(policyCount * 5);
      expect(sum(all.map(({ refused }) => refused))).toBeGreaterThan(policyCount * 5);
    },
    60_000 + policyCount * policyMaxMs,
  );

  test.each(['clusterroles', 'clusterrolebindings', 'roles', 'rolebindings'])(
    'both servers start with the same %s',
    async (plural) => {
      const { real, ours } = servers();
      expect(await essentials(ours, plural)).toEqual(await essentials(real, plural));
    },
  );
});

interface Listed {
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly aggregationRule?: object;
  readonly rules?: unknown;
}

/** Without aggregated rules: a controller computes them, and the real server runs without it. */
async function essentials(server: ServerAddress, plural: string): Promise<readonly unknown[]> {
  const client = new HttpClient(server);
  const path = `/apis/rbac.authorization.k8s.io/v1/${plural}`;
  const { text } = await client.call({
    method: 'GET',
    path,
    headers: { accept: 'application/json' },
    body: undefined,
  });
  client.close();
  const { items } = JSON.parse(text) as { items: readonly Listed[] };
  return items.map(({ metadata, ...rest }) => {
    const { name, namespace, labels, annotations } = metadata;
    const rules = rest.aggregationRule === undefined ? rest.rules : undefined;
    return { ...rest, rules, name, namespace, labels, annotations };
  });
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

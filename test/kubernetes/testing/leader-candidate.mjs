import { parseArgs } from 'node:util';

/**
 * A candidate of a leader election in a process of its own. As leader it writes to a shared ConfigMap as fast as it can. Plain JavaScript
 * over the compiled sources, because Node runs it directly. Each line that it prints announces an action or reports an observation.
 */

const { values } = parseArgs({
  options: {
    compiled: { type: 'string' },
    kubeconfig: { type: 'string' },
    identity: { type: 'string' },
  },
});
const { compiled, kubeconfig, identity } = values;
const { KubernetesCluster } = await import(`${compiled}/cluster/kubernetes/client.js`);
const { LeaderElector } = await import(`${compiled}/reconcile/leases/leader-election.js`);
const { configMaps, leases } = await import(`${compiled}/kube/resources.js`);
const { realClock } = await import(`${compiled}/runtime/clock.js`);
const { systemRandom } = await import(`${compiled}/runtime/random.js`);

const cluster = await KubernetesCluster.connect({
  kubeconfig,
  clock: realClock,
  random: systemRandom,
  env: {},
  rateLimit: false,
});
const shared = { namespace: 'default', name: 'shared' };

const elector = new LeaderElector({
  leases: cluster.resource(leases),
  lease: { namespace: 'default', name: 'election' },
  identity,
  clock: realClock,
  random: systemRandom,
  // The defaults: shorter ones expire on a busy machine, and the leader then changes without being killed.
  leaseDurationMs: 15_000,
  renewDeadlineMs: 10_000,
  retryPeriodMs: 2_000,
  onStartedLeading: lead,
});

print('waits');
print(`ends ${await elector.run(new AbortController().signal)}`);
process.exit(0);

async function lead(signal) {
  print('leads');
  let seen = await cluster.resource(configMaps).get(shared, { signal });
  for (let write = 1; elector.isLeading(); write += 1) {
    print(`writes ${write}`);
    try {
      seen = await writeOnce(seen.metadata, write, signal);
      print(`wrote ${write}`);
    } catch (error) {
      print(`failed ${error.reason ?? error.message}`);
      if (!signal.aborted) seen = await cluster.resource(configMaps).get(shared, { signal });
    }
    await realClock.sleep(10, signal);
  }
}

/** Like every write of our controllers, it carries the uid and resource version that it depends on. */
function writeOnce({ uid, resourceVersion }, write, signal) {
  const body = { metadata: { uid, resourceVersion }, data: { writer: identity, write: String(write) } };
  return cluster.resource(configMaps).patch(shared, { type: 'merge', body }, { signal });
}

function print(text) {
  process.stdout.write(`${text}\n`);
}

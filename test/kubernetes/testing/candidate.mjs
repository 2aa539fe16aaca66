import { parseArgs } from 'node:util';

/*
 * A candidate in an election, in a process of its own, which as leader writes to a shared ConfigMap as fast as it can. Plain
 * JavaScript over the compiled sources, as Node runs it. Every line that it prints is something that it is about to do, or has seen.
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
const { LeaderElector } = await import(`${compiled}/cluster/leader-election.js`);
const { configMaps, leases } = await import(`${compiled}/cluster/resources.js`);
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
  // Short, so that the test is; the ratios are those of the defaults.
  leaseDurationMs: 3_000,
  renewDeadlineMs: 2_000,
  retryPeriodMs: 400,
  onStartedLeading: lead,
});

say('waits');
say(`ends ${await elector.run(new AbortController().signal)}`);
process.exit(0);

async function lead(signal) {
  say('leads');
  let seen = await cluster.resource(configMaps).get(shared, { signal });
  for (let write = 1; elector.isLeading(); write += 1) {
    say(`writes ${write}`);
    try {
      seen = await writeOnce(seen.metadata, write, signal);
      say(`wrote ${write}`);
    } catch (error) {
      say(`failed ${error.reason ?? error.message}`);
      if (!signal.aborted) seen = await cluster.resource(configMaps).get(shared, { signal });
    }
    await realClock.sleep(10, signal);
  }
}

/** As every write of ours, it carries uid and version of what it depends on. */
function writeOnce({ uid, resourceVersion }, write, signal) {
  const body = { metadata: { uid, resourceVersion }, data: { writer: identity, write: String(write) } };
  return cluster.resource(configMaps).patch(shared, { type: 'merge', body }, { signal });
}

function say(text) {
  process.stdout.write(`${text}\n`);
}

// A custom scheduler: it places each pod on the node with the fewest pods, and leaves volumes to stowage/binding.
import { VolumeBinding } from 'stowage/binding';

const schedulerName = process.env.SCHEDULER_NAME ?? 'fewest-pods';
const binding = await VolumeBinding.connect({ onError: (error) => console.error(error.message) });
const nodeOfBindingPod = new Map();
const lastRefusal = new Map();
const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => stop.abort());

console.log(`scheduling pods with schedulerName: ${schedulerName}`);
while (!stop.signal.aborted) {
  for (const pod of binding.list('Pod')) {
    if (pod.spec.nodeName)
      nodeOfBindingPod.delete(pod.metadata.uid); // it is bound
    else if (isPending(pod)) place(pod);
  }
  // Looks again after any change, and after ten seconds to retry what failed.
  await binding.nextChange(AbortSignal.any([stop.signal, AbortSignal.timeout(10_000)]));
}
await binding.close();

function isPending({ metadata, spec, status }) {
  const isOurs = spec.schedulerName === schedulerName && !nodeOfBindingPod.has(metadata.uid);
  return isOurs && !metadata.deletionTimestamp && status?.phase === 'Pending';
}

/** Awaits nothing between `prioritize` and `assume`, so a node that fits still fits. */
function place(pod) {
  const nodes = binding.list('Node').filter(({ spec }) => !spec?.unschedulable);
  const names = nodes.map(({ metadata }) => metadata.name);
  const fitting = binding.prioritize(pod, names).map(({ node }) => node);
  if (fitting.length === 0) return refuse(pod, names);
  const counts = podCounts(); // of nodes with equal counts, the first suits the volumes best
  const [node] = fitting.sort((one, other) => (counts[one] ?? 0) - (counts[other] ?? 0));
  void bind(pod, binding.assume(pod, node));
}

/** How many pods each node has, including those that are being bound to it. */
function podCounts() {
  const counts = {};
  for (const { metadata, spec } of binding.list('Pod')) {
    const node = spec.nodeName ?? nodeOfBindingPod.get(metadata.uid);
    if (node) counts[node] = (counts[node] ?? 0) + 1;
  }
  return counts;
}

async function bind(pod, assumed) {
  const { name, uid } = pod.metadata;
  const { node, bindings, provisions } = assumed.placement;
  nodeOfBindingPod.set(uid, node);
  try {
    await assumed.bind(stop.signal); // binds all volumes, then the pod; or reverts everything
    console.log(`${name} is on ${node}: ${bindings.length} existing volumes, ${provisions.length} new ones`);
  } catch (error) {
    if (!stop.signal.aborted) console.error(`${name}: ${error.message}`);
    nodeOfBindingPod.delete(uid);
  }
}

function refuse(pod, nodes) {
  const reasons = nodes.map((node) => `${node}: ${binding.check(pod, node).texts}`).join('; ');
  if (lastRefusal.get(pod.metadata.uid) !== reasons)
    console.log(`${pod.metadata.name} fits no node; ${reasons}`);
  lastRefusal.set(pod.metadata.uid, reasons);
}

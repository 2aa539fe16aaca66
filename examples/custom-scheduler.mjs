// A scheduler of your own: it puts each pod on the node with the fewest pods, and leaves volumes to stowage/binding.
import { VolumeBinding } from 'stowage/binding';

const schedulerName = process.env.SCHEDULER_NAME ?? 'fewest-pods';
const binding = await VolumeBinding.connect({ onTrouble: (error) => console.error(error.message) });
const underWay = new Map();
const said = new Map();
const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => stop.abort());

console.log(`scheduling pods with schedulerName: ${schedulerName}`);
while (!stop.signal.aborted) {
  for (const pod of binding.list('Pod')) {
    if (pod.spec.nodeName)
      underWay.delete(pod.metadata.uid); // it has arrived
    else if (isWaiting(pod)) place(pod);
  }
  // Looks again when anything has changed, and after a while: what failed is tried anew.
  await binding.nextChange(AbortSignal.any([stop.signal, AbortSignal.timeout(10_000)]));
}
await binding.close();

function isWaiting({ metadata, spec, status }) {
  const isOurs = spec.schedulerName === schedulerName && !underWay.has(metadata.uid);
  return isOurs && !metadata.deletionTimestamp && status?.phase === 'Pending';
}

/** Nothing is awaited between looking and assuming, so what was true is still true. */
function place(pod) {
  const nodes = binding.list('Node').filter(({ spec }) => !spec?.unschedulable);
  const names = nodes.map(({ metadata }) => metadata.name);
  const fitting = binding.prioritize(pod, names).map(({ node }) => node);
  if (fitting.length === 0) return refuse(pod, names);
  const counts = podCounts(); // among equals the first: that which suits the volumes best
  const [node] = fitting.sort((one, other) => (counts[one] ?? 0) - (counts[other] ?? 0));
  void carryOut(pod, binding.assume(pod, node));
}

/** How many pods each node has, those included that are on their way to it. */
function podCounts() {
  const counts = {};
  for (const { metadata, spec } of binding.list('Pod')) {
    const node = spec.nodeName ?? underWay.get(metadata.uid);
    if (node) counts[node] = (counts[node] ?? 0) + 1;
  }
  return counts;
}

async function carryOut(pod, assumed) {
  const { name, uid } = pod.metadata;
  const { node, bindings, provisions } = assumed.placement;
  underWay.set(uid, node);
  try {
    await assumed.bind(stop.signal); // all volumes, then the pod; or everything is given back
    console.log(`${name} is on ${node}: ${bindings.length} volumes taken, ${provisions.length} made`);
  } catch (error) {
    if (!stop.signal.aborted) console.error(`${name}: ${error.message}`);
    underWay.delete(uid);
  }
}

function refuse(pod, nodes) {
  const reasons = nodes.map((node) => `${node}: ${binding.check(pod, node).texts}`).join('; ');
  if (said.get(pod.metadata.uid) !== reasons) console.log(`${pod.metadata.name} fits nowhere; ${reasons}`);
  said.set(pod.metadata.uid, reasons);
}

/** The pods that preemption evicts if only cpu matters: slow and obvious, over plain lists. */
export interface PlainPod {
  readonly name: string;
  readonly node: string;
  readonly priority: number;
  readonly cpu: number;
  readonly started: number;
  readonly isProtected: boolean;
}

export interface PlainCluster {
  /** The cpu of each node. */
  readonly nodes: Readonly<Record<string, number>>;
  readonly pods: readonly PlainPod[];
  /** The disruptions that the single budget of all protected pods allows. */
  readonly allowed: number;
  readonly asking: { readonly priority: number; readonly cpu: number };
}

export interface ExpectedEviction {
  readonly node: string;
  readonly victims: readonly string[];
  readonly violations: number;
}

export function expectedEviction(cluster: PlainCluster): ExpectedEviction | undefined {
  const options = Object.keys(cluster.nodes).flatMap((node) => evictionOn(node, cluster) ?? []);
  let left = options;
  for (const cost of costsInOrder(cluster.pods)) {
    const least = Math.min(...left.map(cost));
    left = left.filter((option) => cost(option) === least);
  }
  return left.sort((a, b) => (a.node < b.node ? -1 : 1))[0];
}

function evictionOn(
  node: string,
  { nodes, pods, allowed, asking }: PlainCluster,
): ExpectedEviction | undefined {
  const here = pods.filter((pod) => pod.node === node);
  const lower = here.filter((pod) => pod.priority < asking.priority).sort(moreImportantFirst);
  let used = total(here) - total(lower) + asking.cpu;
  if (used > nodes[node]! || lower.length === 0) return undefined;
  const guarded = lower.filter((pod) => pod.isProtected).slice(allowed);
  const victims: PlainPod[] = [];
  for (const pod of [...guarded, ...lower.filter((entry) => !guarded.includes(entry))]) {
    if (used + pod.cpu <= nodes[node]!) used += pod.cpu;
    else victims.push(pod);
  }
  return {
    node,
    victims: victims.sort(moreImportantFirst).map(({ name }) => name),
    violations: victims.filter((pod) => guarded.includes(pod)).length,
  };
}

function costsInOrder(pods: readonly PlainPod[]): readonly ((option: ExpectedEviction) => number)[] {
  const of = ({ victims }: ExpectedEviction) => victims.map((name) => pods.find((pod) => pod.name === name)!);
  const top = (option: ExpectedEviction) => Math.max(...of(option).map(({ priority }) => priority));
  return [
    ({ violations }) => violations,
    top,
    (option) => of(option).reduce((sum, { priority }) => sum + priority + 2_147_483_648, 0),
    ({ victims }) => victims.length,
    (option) => {
      const highest = of(option).filter(({ priority }) => priority === top(option));
      return -Math.min(...highest.map(({ started }) => started));
    },
  ];
}

function moreImportantFirst(a: PlainPod, b: PlainPod): number {
  if (a.priority !== b.priority) return b.priority - a.priority;
  if (a.started !== b.started) return a.started - b.started;
  return a.name < b.name ? -1 : 1;
}

function total(pods: readonly PlainPod[]): number {
  return pods.reduce((sum, { cpu }) => sum + cpu, 0);
}

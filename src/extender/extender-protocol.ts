import type { Node, Pod } from '../kube/api/core.ts';

/**
 * kube-scheduler's extender protocol, `k8s.io/kube-scheduler/extender/v1`. Its fields have no JSON names of their own, so they are
 * spelt as in Go, and read in any spelling; what is inside a pod or a node is spelt as ever.
 */
export interface ExtenderArgs {
  readonly pod: Pod;
  readonly nodeNames: readonly string[];
  /** Whole nodes, of a kube-scheduler that is told that we keep no cache; then it wants whole nodes back. */
  readonly nodes: readonly Node[] | undefined;
}

export interface FilterResult {
  readonly Nodes: { readonly items: readonly Node[] } | null;
  readonly NodeNames: readonly string[] | null;
  readonly FailedNodes: Readonly<Record<string, string>>;
  /** Evicting pods would not help there. */
  readonly FailedAndUnresolvableNodes: Readonly<Record<string, string>>;
  readonly Error: string;
}

export interface HostPriority {
  readonly Host: string;
  /** A whole number from 0 to 10. */
  readonly Score: number;
}

export interface PreemptionArgs {
  readonly pod: Pod;
  readonly victims: ReadonlyMap<string, VictimsOnNode>;
}

export interface VictimsOnNode {
  readonly uids: readonly string[];
  readonly budgetViolations: number;
}

export interface PreemptionResult {
  readonly NodeNameToMetaVictims: Readonly<Record<string, MetaVictims>>;
}

interface MetaVictims {
  readonly Pods: readonly { readonly UID: string }[];
  readonly NumPDBViolations: number;
}

export interface BindingArgs {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly node: string;
}

export interface BindingResult {
  readonly Error: string;
}

/** A request that makes no sense; the message names the field. */
export class BadExtenderRequest extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'BadRequest';
  }
}

export function readArgs(body: unknown): ExtenderArgs {
  const args = recordOf(body, 'the body');
  const pod = podIn(args);
  const list = field(args, 'Nodes');
  const names = field(args, 'NodeNames');
  if (isGiven(names)) return { pod, nodeNames: namesOf(names), nodes: undefined };
  if (!isGiven(list))
    throw new BadExtenderRequest('Nodes and NodeNames are both missing; one of them is needed');
  const items = field(recordOf(list, 'Nodes'), 'items') ?? [];
  const nodes = arrayOf(items, 'Nodes.items').map((node) => recordOf(node, 'Nodes.items') as Node);
  const nodeNames = nodes.map(({ metadata }) => textOf(metadata?.name, 'Nodes.items.metadata.name'));
  return { pod, nodeNames, nodes };
}

export function readPreemptionArgs(body: unknown): PreemptionArgs {
  const args = recordOf(body, 'the body');
  const pod = podIn(args);
  const metas = field(args, 'NodeNameToMetaVictims');
  const wholes = field(args, 'NodeNameToVictims');
  const read = isGiven(metas) ? metaUid : podUid;
  const given = isGiven(metas) ? metas : wholes;
  if (!isGiven(given))
    throw new BadExtenderRequest('NodeNameToMetaVictims and NodeNameToVictims are both missing');
  const victims = Object.entries(recordOf(given, 'the victims')).map(([node, each]) => {
    const { pods, budgetViolations } = victimsOf(each, node);
    return [node, { uids: pods.map((victim) => read(recordOf(victim, node))), budgetViolations }] as const;
  });
  return { pod, victims: new Map(victims) };
}

export function readBindingArgs(body: unknown): BindingArgs {
  const args = recordOf(body, 'the body');
  const text = (name: string) => textOf(field(args, name), name);
  return {
    name: text('PodName'),
    namespace: text('PodNamespace'),
    uid: text('PodUID'),
    node: text('Node'),
  };
}

function victimsOf(value: unknown, node: string): { pods: readonly unknown[]; budgetViolations: number } {
  const victims = recordOf(value, `the victims on ${node}`);
  const violations = field(victims, 'NumPDBViolations');
  return {
    pods: arrayOf(field(victims, 'Pods') ?? [], `Pods of the victims on ${node}`),
    budgetViolations: typeof violations === 'number' ? violations : 0,
  };
}

function metaUid(victim: Fields): string {
  return textOf(field(victim, 'UID'), 'UID of a victim');
}

function podUid({ metadata }: Fields): string {
  return textOf(field(recordOf(metadata, 'metadata of a victim'), 'uid'), 'metadata.uid of a victim');
}

/** Only pods that exist come here, and those have a name and a uid. */
function podIn(args: Fields): Pod {
  const pod = recordOf(field(args, 'Pod'), 'Pod');
  const metadata = recordOf(pod.metadata, 'Pod.metadata');
  for (const name of ['name', 'namespace', 'uid']) textOf(metadata[name], `Pod.metadata.${name}`);
  return pod as Pod;
}

type Fields = Readonly<Record<string, unknown>>;

/** In kube-scheduler's spelling, else in any other, as Go reads it. */
function field(fields: Fields, name: string): unknown {
  if (Object.hasOwn(fields, name)) return fields[name];
  const lower = name.toLowerCase();
  const other = Object.keys(fields).find((key) => key.toLowerCase() === lower);
  return other === undefined ? undefined : fields[other];
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function namesOf(value: unknown): string[] {
  return arrayOf(value, 'NodeNames').map((name) => textOf(name, 'NodeNames'));
}

function recordOf(value: unknown, what: string): Fields {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields;
  throw new BadExtenderRequest(`${what}: must be an object`);
}

function arrayOf(value: unknown, what: string): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw new BadExtenderRequest(`${what}: must be a list`);
}

function textOf(value: unknown, what: string): string {
  if (typeof value === 'string' && value !== '') return value;
  throw new BadExtenderRequest(`${what}: must be a text that is not empty`);
}

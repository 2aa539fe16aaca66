import type { Node, Pod } from '../kube/api/core.ts';

/**
 * kube-scheduler's extender protocol, `k8s.io/kube-scheduler/extender/v1`. Its Go fields have no JSON names, so they are written as in Go
 * and read case-insensitively. The fields of pods and nodes have their usual JSON names.
 */
export interface ExtenderArgs {
  readonly pod: Pod;
  readonly nodeNames: readonly string[];
  /** Set if kube-scheduler is configured with `nodeCacheCapable: false`: it sends whole nodes and expects whole nodes back. */
  readonly nodes: readonly Node[] | undefined;
}

export interface FilterResult {
  readonly Nodes: { readonly items: readonly Node[] } | null;
  readonly NodeNames: readonly string[] | null;
  readonly FailedNodes: Readonly<Record<string, string>>;
  /** Nodes where evicting pods would not help. */
  readonly FailedAndUnresolvableNodes: Readonly<Record<string, string>>;
  readonly Error: string;
}

export interface HostPriority {
  readonly Host: string;
  /** An integer from 0 to 10. */
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

/** An invalid request; the message names the field. */
export class BadExtenderRequest extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'BadRequest';
  }
}

export function readArgs(body: unknown): ExtenderArgs {
  const args = objectAt(body, 'the body');
  const pod = podIn(args);
  const list = field(args, 'Nodes');
  const names = field(args, 'NodeNames');
  if (isGiven(names)) return { pod, nodeNames: nodeNamesIn(names), nodes: undefined };
  if (!isGiven(list))
    throw new BadExtenderRequest('Nodes and NodeNames are both missing; one of them is required');
  const items = field(objectAt(list, 'Nodes'), 'items') ?? [];
  const nodes = arrayAt(items, 'Nodes.items').map((node) => objectAt(node, 'Nodes.items') as Node);
  const nodeNames = nodes.map(({ metadata }) => stringAt(metadata?.name, 'Nodes.items.metadata.name'));
  return { pod, nodeNames, nodes };
}

export function readPreemptionArgs(body: unknown): PreemptionArgs {
  const args = objectAt(body, 'the body');
  const pod = podIn(args);
  const metas = field(args, 'NodeNameToMetaVictims');
  const wholes = field(args, 'NodeNameToVictims');
  const read = isGiven(metas) ? metaUid : podUid;
  const given = isGiven(metas) ? metas : wholes;
  if (!isGiven(given))
    throw new BadExtenderRequest(
      'NodeNameToMetaVictims and NodeNameToVictims are both missing; one of them is required',
    );
  const victims = Object.entries(objectAt(given, 'the victims')).map(([node, each]) => {
    const { pods, budgetViolations } = victimsOf(each, node);
    return [node, { uids: pods.map((victim) => read(objectAt(victim, node))), budgetViolations }] as const;
  });
  return { pod, victims: new Map(victims) };
}

export function readBindingArgs(body: unknown): BindingArgs {
  const args = objectAt(body, 'the body');
  const text = (name: string) => stringAt(field(args, name), name);
  return {
    name: text('PodName'),
    namespace: text('PodNamespace'),
    uid: text('PodUID'),
    node: text('Node'),
  };
}

function victimsOf(value: unknown, node: string): { pods: readonly unknown[]; budgetViolations: number } {
  const victims = objectAt(value, `the victims on ${node}`);
  const violations = field(victims, 'NumPDBViolations');
  return {
    pods: arrayAt(field(victims, 'Pods') ?? [], `Pods of the victims on ${node}`),
    budgetViolations: typeof violations === 'number' ? violations : 0,
  };
}

function metaUid(victim: Fields): string {
  return stringAt(field(victim, 'UID'), 'UID of a victim');
}

function podUid({ metadata }: Fields): string {
  return stringAt(field(objectAt(metadata, 'metadata of a victim'), 'uid'), 'metadata.uid of a victim');
}

/** Requests are about pods that exist, and these have a name, a namespace and a uid. */
function podIn(args: Fields): Pod {
  const pod = objectAt(field(args, 'Pod'), 'Pod');
  const metadata = objectAt(pod.metadata, 'Pod.metadata');
  for (const name of ['name', 'namespace', 'uid']) stringAt(metadata[name], `Pod.metadata.${name}`);
  return pod as Pod;
}

type Fields = Readonly<Record<string, unknown>>;

/** The field with exactly this name, else with any other capitalization, as Go's JSON decoder reads it. */
function field(fields: Fields, name: string): unknown {
  if (Object.hasOwn(fields, name)) return fields[name];
  const lower = name.toLowerCase();
  const other = Object.keys(fields).find((key) => key.toLowerCase() === lower);
  return other === undefined ? undefined : fields[other];
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function nodeNamesIn(value: unknown): string[] {
  return arrayAt(value, 'NodeNames').map((name) => stringAt(name, 'NodeNames'));
}

function objectAt(value: unknown, what: string): Fields {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields;
  throw new BadExtenderRequest(`${what}: must be an object`);
}

function arrayAt(value: unknown, what: string): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw new BadExtenderRequest(`${what}: must be a list`);
}

function stringAt(value: unknown, what: string): string {
  if (typeof value === 'string' && value !== '') return value;
  throw new BadExtenderRequest(`${what}: must be a non-empty string`);
}

import type { ResourceList, ResourceRequirements } from '../api/core.ts';
import { isRecord, listOf, textOf } from '../wire.ts';
import { addQuantities, compareQuantities, parseQuantity, type Quantity } from './quantity.ts';
import { amountsOf, quantitiesOf, type ResourceAmounts } from './resource-amounts.ts';

/** What of a pod's spec says how much it needs. The spec of any Pod will do. */
export interface RequestingSpec {
  readonly containers?: readonly RequestingContainer[] | undefined;
  readonly initContainers?: readonly RequestingContainer[] | undefined;
  readonly overhead?: ResourceList | undefined;
  readonly resources?: ResourceRequirements | undefined;
}

export interface RequestingContainer {
  readonly name?: string | undefined;
  readonly restartPolicy?: string | undefined;
  readonly resources?: ResourceRequirements | undefined;
}

/** What a pod's node has granted it, from its status; it may differ from the spec while the pod is being resized. */
export interface GrantedRequests {
  readonly containers: readonly GrantedToContainer[];
  readonly initContainers: readonly GrantedToContainer[];
  readonly allocatedResources?: ResourceList | undefined;
  readonly resources?: ResourceRequirements | undefined;
  /** The node can never give what the spec asks for, so that the spec doesn't count. */
  readonly isInfeasible: boolean;
}

export interface GrantedToContainer {
  readonly name?: string | undefined;
  readonly allocatedResources?: ResourceList | undefined;
  readonly resources?: ResourceRequirements | undefined;
}

/**
 * What a pod needs of its node:
 *
 *     max(containers + sidecars, each init container + the sidecars before it), by resource
 *     replaced by the request of the pod as a whole, where there is one
 *     + overhead
 *
 * With `granted`, what the node has set aside and what is in force count beside what is asked for; the largest wins.
 */
export function podRequests(spec: RequestingSpec, granted?: GrantedRequests): ResourceAmounts {
  return amountsOf(totalOf(spec, granted, noDefaults));
}

/**
 * What a pod that is to be placed asks for when nodes are ranked: something is assumed for each container that doesn't say how much cpu
 * or memory it wants, else they would all end up where the requests are smallest. As in kube-scheduler, which forgets the requests of
 * the pod as a whole here.
 */
export function podRequestsForScore({ resources: _, ...spec }: RequestingSpec): ResourceAmounts {
  return amountsOf(totalOf(spec, undefined, scoreDefaults));
}

/**
 * What a pod on a node adds to the node's load when nodes are ranked. Here the requests of the pod as a whole do count; with them,
 * something is assumed only for a resource that is mentioned nowhere in the pod.
 */
export function podLoadForScore(spec: RequestingSpec, granted?: GrantedRequests): ResourceAmounts {
  if (!hasPodLevelRequests(spec)) return amountsOf(totalOf(spec, granted, scoreDefaults));
  const mentioned = totalOf(spec, granted, noDefaults);
  const missing = [...scoreDefaults].filter(([name]) => !mentioned.has(name));
  return amountsOf(totalOf(spec, granted, new Map(missing)));
}

type Quantities = ReadonlyMap<string, Quantity>;

const noDefaults: Quantities = new Map();
const scoreDefaults: Quantities = quantitiesOf({ cpu: '100m', memory: '200Mi' });
const zero = knownQuantity('0');

function totalOf(
  spec: RequestingSpec,
  granted: GrantedRequests | undefined,
  defaults: Quantities,
): Quantities {
  const total = containersTotal(spec, granted, defaults);
  for (const [name, quantity] of podLevelRequests(spec, granted)) total.set(name, quantity);
  addTo(total, quantitiesOf(spec.overhead));
  return total;
}

function containersTotal(
  spec: RequestingSpec,
  granted: GrantedRequests | undefined,
  defaults: Quantities,
): Map<string, Quantity> {
  const grants = grantsByName(granted);
  const total = new Map<string, Quantity>();
  const sidecars = new Map<string, Quantity>();
  const startup = new Map<string, Quantity>();
  for (const container of listOf(spec.containers)) {
    addTo(total, withDefaults(effectiveRequests(container, granted, grants), defaults));
  }
  for (const container of listOf(spec.initContainers)) {
    const isSidecar = container?.restartPolicy === 'Always';
    // Only what keeps running can be resized.
    const effective = effectiveRequests(container, isSidecar ? granted : undefined, grants);
    const requests = withDefaults(effective, defaults);
    if (isSidecar) {
      addTo(total, requests);
      addTo(sidecars, requests);
      raiseTo(startup, sidecars);
    } else {
      const whileItRuns = new Map(requests);
      addTo(whileItRuns, sidecars);
      raiseTo(startup, whileItRuns);
    }
  }
  raiseTo(total, startup);
  return total;
}

function grantsByName(granted: GrantedRequests | undefined): ReadonlyMap<string, GrantedToContainer> {
  const byName = new Map<string, GrantedToContainer>();
  for (const grant of [...listOf(granted?.containers), ...listOf(granted?.initContainers)]) {
    if (isRecord(grant)) byName.set(textOf(grant.name), grant);
  }
  return byName;
}

function effectiveRequests(
  container: RequestingContainer,
  granted: GrantedRequests | undefined,
  grants: ReadonlyMap<string, GrantedToContainer>,
): Quantities {
  const asked = quantitiesOf(container?.resources?.requests);
  if (granted === undefined) return asked;
  const grant = grants.get(textOf(container?.name));
  return grant === undefined || !isRecord(grant.resources)
    ? asked
    : largestOf(asked, grant, granted.isInfeasible);
}

/** Before the node has said what is in force, what it has set aside doesn't count either. */
function largestOf(asked: Quantities, grant: GrantedToContainer, isInfeasible: boolean): Quantities {
  const largest = new Map(isInfeasible ? [] : asked);
  raiseTo(largest, quantitiesOf(grant.resources?.requests));
  raiseTo(largest, quantitiesOf(grant.allocatedResources));
  return largest;
}

function podLevelRequests(spec: RequestingSpec, granted: GrantedRequests | undefined): Quantities {
  const asked = new Map([...quantitiesOf(spec.resources?.requests)].filter(([name]) => isPodLevel(name)));
  if (asked.size === 0 || granted === undefined || !isRecord(granted.resources)) return asked;
  const largest = largestOf(asked, granted, granted.isInfeasible);
  return new Map([...asked.keys()].map((name) => [name, largest.get(name) ?? zero]));
}

function hasPodLevelRequests(spec: RequestingSpec): boolean {
  return podLevelRequests(spec, undefined).size > 0;
}

/** Others can't be asked for by the pod as a whole. */
function isPodLevel(name: string): boolean {
  return name === 'cpu' || name === 'memory' || name.startsWith('hugepages-');
}

function withDefaults(requests: Quantities, defaults: Quantities): Quantities {
  return defaults.size === 0 ? requests : new Map([...defaults, ...requests]);
}

function addTo(sum: Map<string, Quantity>, added: Quantities): void {
  for (const [name, quantity] of added) {
    const known = sum.get(name);
    sum.set(name, known === undefined ? quantity : addQuantities(known, quantity));
  }
}

function raiseTo(floor: Map<string, Quantity>, quantities: Quantities): void {
  for (const [name, quantity] of quantities) {
    const known = floor.get(name);
    if (known === undefined || compareQuantities(quantity, known) > 0) floor.set(name, quantity);
  }
}

function knownQuantity(text: string): Quantity {
  const parsed = parseQuantity(text);
  if (!parsed.ok) throw new Error(parsed.problem);
  return parsed.quantity;
}

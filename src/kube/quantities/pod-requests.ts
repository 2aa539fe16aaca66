import type { ResourceList, ResourceRequirements } from '../api/core.ts';
import { isRecord, listOf, textOf } from '../wire.ts';
import { addQuantities, compareQuantities, parseQuantity, type Quantity } from './quantity.ts';
import { amountsOf, quantitiesOf, type ResourceAmounts } from './resource-amounts.ts';

/** The fields of a pod's spec that determine its requests. */
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

/** The resources that the node has granted to a pod, from its status; they may differ from the spec during a resize. */
export interface GrantedRequests {
  readonly containers: readonly GrantedToContainer[];
  readonly initContainers: readonly GrantedToContainer[];
  readonly allocatedResources?: ResourceList | undefined;
  readonly resources?: ResourceRequirements | undefined;
  /** The node can never grant the requests of the spec, so the spec doesn't count. */
  readonly isInfeasible: boolean;
}

export interface GrantedToContainer {
  readonly name?: string | undefined;
  readonly allocatedResources?: ResourceList | undefined;
  readonly resources?: ResourceRequirements | undefined;
}

/**
 * The resources that a pod needs on its node:
 *
 *     max(containers + sidecars, each init container + the sidecars before it), by resource
 *     replaced by the request of the pod as a whole, where there is one
 *     + overhead
 *
 * With `granted`, the result is the largest of the requested, the allocated and the actual resources.
 */
export function podRequests(spec: RequestingSpec, granted?: GrantedRequests): ResourceAmounts {
  return amountsOf(totalOf(spec, granted, noDefaults));
}

/**
 * The requests of a pod for scoring nodes: a container without a request for cpu or memory counts with a default, because otherwise all
 * such pods would get the node with the smallest requests. As in kube-scheduler, pod-level requests don't count here.
 */
export function podRequestsForScore({ resources: _, ...spec }: RequestingSpec): ResourceAmounts {
  return amountsOf(totalOf(spec, undefined, scoreDefaults));
}

/**
 * The load of a pod on its node for scoring nodes. Pod-level requests count here; with them, the default counts only for a resource
 * that neither the pod nor any container requests.
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
    // Only containers that keep running can be resized.
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

/** The allocated resources count only after the node has reported the actual ones. */
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

/** Only these can be pod-level requests. */
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

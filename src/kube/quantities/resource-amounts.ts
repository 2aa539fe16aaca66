import type { ResourceList } from '../api/core.ts';
import { isLabelKey } from '../selectors/label-syntax.ts';
import { isRecord } from '../wire.ts';
import { parseQuantity, type Quantity, quantityToNano } from './quantity.ts';

/**
 * Resources as the scheduler counts them: whole numbers, fractions rounded up.
 *
 * They are doubles, exact up to 2^53. Above, requests of pods are rounded up to a double, and amounts of nodes are capped at 2^53, so
 * that a pod never seems to fit where it doesn't.
 */
export interface ResourceAmounts {
  readonly cpuMilli: number;
  readonly memoryBytes: number;
  readonly ephemeralStorageBytes: number;
  /** Hugepages and extended resources, by name; those of zero are left out. */
  readonly others: ReadonlyMap<string, number>;
}

/** The resources that a node offers to pods. */
export interface AllocatableAmounts extends ResourceAmounts {
  readonly pods: number;
}

/** The quantities of a resource list by name. Invalid ones are left out: a server would have refused them. */
export function quantitiesOf(list: ResourceList | null | undefined): Map<string, Quantity> {
  const quantities = new Map<string, Quantity>();
  if (!isRecord(list)) return quantities;
  for (const name of Object.keys(list)) {
    const parsed = parseQuantity(list[name]);
    if (parsed.ok) quantities.set(name, parsed.quantity);
  }
  return quantities;
}

export function amountsOf(quantities: ReadonlyMap<string, Quantity>): ResourceAmounts {
  let others: Map<string, number> | undefined;
  for (const [name, quantity] of quantities) {
    if (!isCountedByName(name)) continue;
    const amount = unitsOf(quantity);
    if (amount > 0) others = (others ?? new Map()).set(name, amount);
  }
  return {
    cpuMilli: milliUnitsOf(quantities.get('cpu')),
    memoryBytes: unitsOf(quantities.get('memory')),
    ephemeralStorageBytes: unitsOf(quantities.get('ephemeral-storage')),
    others: others ?? noOthers,
  };
}

export function allocatableAmounts(list: ResourceList): AllocatableAmounts {
  const quantities = quantitiesOf(list);
  const amounts = amountsOf(quantities);
  return {
    cpuMilli: cutOff(amounts.cpuMilli),
    memoryBytes: cutOff(amounts.memoryBytes),
    ephemeralStorageBytes: cutOff(amounts.ephemeralStorageBytes),
    others: new Map([...amounts.others].map(([name, amount]) => [name, cutOff(amount)])),
    pods: cutOff(unitsOf(quantities.get('pods'))),
  };
}

const noOthers: ReadonlyMap<string, number> = new Map();

/** Kubernetes uses signed 64-bit integers. */
const amountMax = 2 ** 63;

const nanoPerUnit = 1_000_000_000n;
const nanoPerMilli = 1_000_000n;

/**
 * Whether kube-scheduler counts it beside cpu, memory and ephemeral storage: hugepages, attachable volumes, names of `kubernetes.io/`,
 * and extended resources (of any other domain, as long as a quota could name them).
 */
function isCountedByName(name: string): boolean {
  if (name.startsWith('hugepages-') || name.startsWith('attachable-volumes-')) return true;
  if (!name.includes('/')) return false;
  if (name.includes('kubernetes.io/')) return true;
  return !name.startsWith('requests.') && isLabelKey(`requests.${name}`);
}

function unitsOf(quantity: Quantity | undefined): number {
  if (quantity === undefined) return 0;
  if (typeof quantity.amount === 'number') return Math.max(0, quantity.amount);
  return roundedUp(quantity.amount, nanoPerUnit);
}

function milliUnitsOf(quantity: Quantity | undefined): number {
  if (quantity === undefined) return 0;
  if (typeof quantity.amount === 'number') {
    const milli = quantity.amount * 1000;
    if (Number.isSafeInteger(milli)) return Math.max(0, milli);
  }
  return roundedUp(quantityToNano(quantity), nanoPerMilli);
}

/** A server refuses negative amounts; here they count as zero. */
function roundedUp(nano: bigint, nanoPerStep: bigint): number {
  if (nano <= 0n) return 0;
  const exact = (nano + nanoPerStep - 1n) / nanoPerStep;
  const amount = Number(exact);
  if (amount >= amountMax) return amountMax;
  return BigInt(amount) >= exact ? amount : nextDouble(amount);
}

/** The next larger double of a whole number between 2^53 and 2^63, where doubles are `2^(exponent - 52)` apart. */
function nextDouble(amount: number): number {
  return amount + 2 ** (Math.floor(Math.log2(amount)) - 52);
}

function cutOff(amount: number): number {
  return Math.min(amount, Number.MAX_SAFE_INTEGER);
}

import type { ResourceAmounts } from '../../kube/quantities/resource-amounts.ts';

/** Amounts in the engine's units: thousandths of a cpu, bytes, pieces. */
export function amountOf(amounts: ResourceAmounts, resource: string): number {
  switch (resource) {
    case 'cpu':
      return amounts.cpuMilli;
    case 'memory':
      return amounts.memoryBytes;
    case 'ephemeral-storage':
      return amounts.ephemeralStorageBytes;
    default:
      return amounts.others.get(resource) ?? 0;
  }
}

/** The amount as a quantity of an object. */
export function resourceQuantity(resource: string, amount: number): string {
  return resource === 'cpu' ? `${amount}m` : String(amount);
}

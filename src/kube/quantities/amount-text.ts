/** The rounding direction: an amount to add is never rounded down, an amount to keep never up. */
export type Rounding = 'up' | 'down' | 'nearest';

const units = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];
const decimals = 100;

/** Bytes with two decimals of the largest unit: `40Gi`, `1.5Ti`, `512`. */
export function bytesText(bytes: number, rounding: Rounding = 'nearest'): string {
  let value = Math.abs(bytes);
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  const rounded = unit === 0 ? round(value, rounding) : round(value * decimals, rounding) / decimals;
  return `${bytes < 0 ? '-' : ''}${rounded}${units[unit]}`;
}

/** Thousandths of a cpu as cores: `1.2`. */
export function coresText(milli: number): string {
  return String(milli / 1000);
}

/** An amount of a resource, in the units that the engine counts in. */
export function resourceText(resource: string, amount: number, rounding: Rounding = 'nearest'): string {
  if (resource === 'cpu') return coresText(amount);
  return isCountedInBytes(resource) ? bytesText(amount, rounding) : String(amount);
}

export function isCountedInBytes(resource: string): boolean {
  return resource === 'memory' || resource === 'ephemeral-storage' || resource.startsWith('hugepages-');
}

function round(value: number, rounding: Rounding): number {
  switch (rounding) {
    case 'up':
      return Math.ceil(value);
    case 'down':
      return Math.floor(value);
    case 'nearest':
      return Math.round(value);
  }
}

import type { IntOrString } from '../../../kube/api/meta.ts';

/** A number as it stands, or a percentage of the whole. What is neither counts as 0; the server lets nothing else through. */
export function scaledValue(value: IntOrString | undefined, whole: number, rounding: 'up' | 'down'): number {
  if (typeof value === 'number') return value;
  const percent = /^(\d+)%$/.exec(value ?? '')?.[1];
  if (percent === undefined) return 0;
  const share = (Number(percent) * whole) / 100;
  return rounding === 'up' ? Math.ceil(share) : Math.floor(share);
}

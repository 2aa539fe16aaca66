import type { IntOrString } from '../../kube/api/meta.ts';

/** A number, or a percentage of the whole. Anything else counts as 0; the server accepts nothing else. */
export function scaledValue(value: IntOrString | undefined, whole: number, rounding: 'up' | 'down'): number {
  if (typeof value === 'number') return value;
  const percent = /^(\d+)%$/.exec(value ?? '')?.[1];
  if (percent === undefined) return 0;
  const share = (Number(percent) * whole) / 100;
  return rounding === 'up' ? Math.ceil(share) : Math.floor(share);
}

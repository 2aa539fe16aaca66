/** Few names, so that random objects refer to each other. */
export const nodeNames = ['n1', 'n2', 'n3', 'n4', 'n5', 'n6'];
export const zones = ['a', 'b', 'c'];
export const drivers = ['d1', 'd2'];
export const classNames = ['static', 'dyn', 'dyn2', 'imm', 'ebs'];
export const claimNames = ['c1', 'c2', 'c3', 'c4'];
export const otherClaimNames = ['o1', 'o2', 'o3'];
export const volumeNames = named('v', 12);
export const rack = 'example.com/rack';

export function named(prefix: string, count: number): string[] {
  return Array.from({ length: count }, (_, position) => `${prefix}${position + 1}`);
}

import { qualifiedNameProblems } from '../../../validation/names.ts';

/** Resource names: native ones (without a slash, or below `kubernetes.io/`) and extended ones. */

const hugePagesPrefix = 'hugepages-';

export function isHugePages(name: string): boolean {
  return name.startsWith(hugePagesPrefix);
}

/** `2Mi` for `hugepages-2Mi`. */
export function pageSizeOf(name: string): string {
  return name.slice(hugePagesPrefix.length);
}

export function isNativeResource(name: string): boolean {
  return !name.includes('/') || name.includes('kubernetes.io/');
}

/** Whether requests may be lower than limits. */
export function isOvercommittable(name: string): boolean {
  return isNativeResource(name) && !isHugePages(name);
}

export function isExtendedResource(name: string): boolean {
  if (isNativeResource(name) || name.startsWith('requests.')) return false;
  return qualifiedNameProblems(`requests.${name}`).length === 0;
}

/** Whether amounts must be whole numbers. */
export function isIntegerResource(name: string): boolean {
  return countedResources.has(name) || isExtendedResource(name);
}

export function isStandardResource(name: string): boolean {
  return standardResources.has(name) || isHugePages(name) || name.startsWith('requests.hugepages-');
}

export function isContainerResource(name: string): boolean {
  return name === 'cpu' || name === 'memory' || name === 'ephemeral-storage' || isHugePages(name);
}

/** Whether a pod can request the resource at pod level. */
export function isPodLevelResource(name: string): boolean {
  return name === 'cpu' || name === 'memory' || isHugePages(name);
}

export const podLevelResources: readonly string[] = ['cpu', hugePagesPrefix, 'memory'];

const countedResources: ReadonlySet<string> = new Set([
  'pods',
  'resourcequotas',
  'services',
  'replicationcontrollers',
  'secrets',
  'configmaps',
  'persistentvolumeclaims',
  'services.nodeports',
  'services.loadbalancers',
]);

const standardResources: ReadonlySet<string> = new Set([
  ...countedResources,
  ...['cpu', 'memory', 'ephemeral-storage'].flatMap((name) => [name, `requests.${name}`, `limits.${name}`]),
  'storage',
  'requests.storage',
]);

import type { Resource } from '../../kube/resource.ts';
import { isRecord, listOf } from '../../kube/wire.ts';

/** What the server offers, and what could not be determined. */
export interface Discovery {
  /** All resources that can be listed, watched and deleted; each once, in the version that its group prefers. */
  readonly resources: readonly Resource[];
  /** Groups that did not answer, such as those of an unavailable extension. */
  readonly failures: readonly DiscoveryFailure[];
}

export interface DiscoveryFailure {
  readonly groupVersion: string;
  readonly error: unknown;
}

/** Returns the JSON under a path of the API. */
export type ReadPath = (path: string) => Promise<unknown>;

/** Rejects only if the server does not list its groups: an unavailable group must not hide the others. */
export async function discover(read: ReadPath): Promise<Discovery> {
  const [core, groups] = await Promise.all([read('/api'), read('/apis')]);
  const found = await Promise.all([...coreVersions(core), ...preferredVersions(groups)].map(readGroup(read)));
  return {
    resources: withoutDuplicates(found.flatMap(({ resources }) => resources)),
    failures: found.flatMap(({ failures }) => failures),
  };
}

type GroupVersion = Pick<Resource, 'group' | 'version'>;

function coreVersions(answer: unknown): readonly GroupVersion[] {
  return list(isRecord(answer) ? answer.versions : undefined).map((version) => ({
    group: '',
    version: String(version),
  }));
}

function preferredVersions(answer: unknown): readonly GroupVersion[] {
  return list(isRecord(answer) ? answer.groups : undefined)
    .filter(isRecord)
    .flatMap(({ name, preferredVersion }) => {
      const version = isRecord(preferredVersion) ? preferredVersion.version : undefined;
      return typeof name === 'string' && typeof version === 'string' ? [{ group: name, version }] : [];
    });
}

function readGroup(read: ReadPath): (of: GroupVersion) => Promise<Discovery> {
  return async (of) => {
    const path = of.group === '' ? `/api/${of.version}` : `/apis/${of.group}/${of.version}`;
    try {
      const answer = await read(path);
      return { resources: resourcesIn(answer, of), failures: [] };
    } catch (error) {
      return { resources: [], failures: [{ groupVersion: path.replace(/^\/apis?\//, ''), error }] };
    }
  };
}

const verbsNeeded = ['list', 'watch', 'delete'];

function resourcesIn(answer: unknown, of: GroupVersion): readonly Resource[] {
  return list(isRecord(answer) ? answer.resources : undefined)
    .filter(isRecord)
    .flatMap(({ name, kind, namespaced, verbs }) => {
      const isSubresource = String(name).includes('/');
      const can = list(verbs);
      if (isSubresource || !verbsNeeded.every((verb) => can.includes(verb))) return [];
      return [{ ...of, plural: String(name), kind: String(kind), namespaced: namespaced === true }];
    });
}

/** Events are served in two groups, and are the same objects. */
function withoutDuplicates(resources: readonly Resource[]): readonly Resource[] {
  return resources.filter(({ group, plural }) => group !== 'events.k8s.io' || plural !== 'events');
}

function list(value: unknown): readonly unknown[] {
  return listOf(value as readonly unknown[]);
}

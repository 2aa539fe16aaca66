import type {
  Node,
  NodeSelector,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
} from '../../kube/api/core.ts';
import { nodes, persistentVolumeClaims, persistentVolumes } from '../../kube/resources.ts';
import { compileNodeSelector, matchesNode } from '../../kube/selectors/node-selector.ts';
import type { Invariant } from './invariant.ts';
import type { StoredObjects } from './stored-objects.ts';

/**
 * Checked when a pod gets its node: by then each of its claims has a volume that is reserved for it and that the node reaches. Claims that were
 * removed before their scheduler could know it are exempt.
 */
export const podsReachTheirVolumes: Invariant = {
  name: 'a pod gets a node only when all of its volumes are bound and can be reached from there',
  onVersion: ({ resource, key, before, after }, state, storage) => {
    if (resource !== 'pods' || before === undefined || after === undefined) return undefined;
    const { spec, metadata } = after as Pod;
    const hadNode = ((before as Pod).spec?.nodeName ?? '') !== '';
    if (hadNode || (spec?.nodeName ?? '') === '') return undefined;
    const isKnown = (name: string) =>
      storage?.wasRemovedUnseen(metadata?.uid ?? '', `${metadata?.namespace}/${name}`) !== true;
    const names = claimNamesOf(after as Pod).filter(isKnown);
    const problems = names.flatMap((name) => problemsOf(after as Pod, name, state));
    return problems.length === 0 ? undefined : `pod ${key} on ${spec?.nodeName}: ${problems.join('; ')}`;
  },
};

/** The kubelet mounts what is Bound, and nothing else. */
export const runningPodsHaveTheirVolumes: Invariant = {
  name: 'a pod runs only with volumes that are bound and can be reached from its node',
  onVersion: ({ resource, key, before, after }, state) => {
    if (resource !== 'pods' || after === undefined) return undefined;
    const pod = after as Pod;
    const ran = (before as Pod | undefined)?.status?.phase === 'Running';
    if (ran || pod.status?.phase !== 'Running') return undefined;
    const names = claimNamesOf(pod);
    const unbound = names.filter((name) => phaseOf(pod, name, state) !== 'Bound');
    const problems = [
      ...unbound.map((name) => `claim ${name} is not Bound`),
      ...names.flatMap((name) => problemsOf(pod, name, state)),
    ];
    return problems.length === 0
      ? undefined
      : `pod ${key} runs on ${pod.spec?.nodeName}: ${problems.join('; ')}`;
  },
};

export const podsKeepTheirNode: Invariant = {
  name: 'a pod keeps its node',
  onVersion: ({ resource, key, before, after }) => {
    if (resource !== 'pods' || before === undefined || after === undefined) return undefined;
    const { nodeName: old = '' } = (before as Pod).spec ?? {};
    const { nodeName: current = '' } = (after as Pod).spec ?? {};
    return old === '' || old === current ? undefined : `pod ${key} moved from ${old} to ${current}`;
  },
};

function claimNamesOf({ metadata, spec }: Pod): readonly string[] {
  return (spec?.volumes ?? []).flatMap(({ name, persistentVolumeClaim, ephemeral }) => {
    if (ephemeral !== undefined) return [`${metadata?.name}-${name}`];
    return persistentVolumeClaim?.claimName === undefined ? [] : [persistentVolumeClaim.claimName];
  });
}

function phaseOf({ metadata }: Pod, claimName: string, state: StoredObjects): string | undefined {
  return state.get(persistentVolumeClaims, `${metadata?.namespace}/${claimName}`)?.status?.phase;
}

function problemsOf({ metadata, spec }: Pod, claimName: string, state: StoredObjects): readonly string[] {
  const claim = state.get(persistentVolumeClaims, `${metadata?.namespace}/${claimName}`);
  if (claim === undefined) return [`claim ${claimName} does not exist`];
  const volume = volumeOf(claim, state);
  if (volume === undefined) return [`claim ${claimName} has no volume`];
  const { name } = volume.metadata ?? {};
  if (volume.spec?.claimRef?.uid !== claim.metadata?.uid)
    return [`volume ${name} of claim ${claimName} is reserved for ${volume.spec?.claimRef?.name}`];
  const node = state.get(nodes, spec?.nodeName ?? '');
  const required = volume.spec?.nodeAffinity?.required;
  if (node === undefined || required === undefined || reaches(required, node)) return [];
  return [`volume ${name} of claim ${claimName} can't be reached from there`];
}

function reaches(required: NodeSelector, { metadata }: Node): boolean {
  return matchesNode(compileNodeSelector(required), metadata?.name, metadata?.labels ?? {});
}

/** The volume that the claim names, or a new one that names the claim: the PV controller will bind no other. */
function volumeOf(claim: PersistentVolumeClaim, state: StoredObjects): PersistentVolume | undefined {
  const { volumeName = '' } = claim.spec ?? {};
  if (volumeName !== '') return state.get(persistentVolumes, volumeName);
  return [...state.values(persistentVolumes)].find(({ spec }) => spec?.claimRef?.uid === claim.metadata?.uid);
}

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
import type { StoredState } from './stored-state.ts';

/** Checked when a pod gets its node: by then each of its claims has a volume that is reserved for it and that the node reaches. */
export const podsReachTheirVolumes: Invariant = {
  name: 'a pod gets a node only when all of its volumes are bound and can be reached from there',
  onVersion: ({ resource, key, before, after }, state) => {
    if (resource !== 'pods' || before === undefined || after === undefined) return undefined;
    const { spec } = after as Pod;
    const hadNode = ((before as Pod).spec?.nodeName ?? '') !== '';
    if (hadNode || (spec?.nodeName ?? '') === '') return undefined;
    const problems = (spec?.volumes ?? []).flatMap(({ persistentVolumeClaim }) =>
      persistentVolumeClaim?.claimName === undefined
        ? []
        : problemsOf(after as Pod, persistentVolumeClaim.claimName, state),
    );
    return problems.length === 0 ? undefined : `pod ${key} on ${spec?.nodeName}: ${problems.join('; ')}`;
  },
};

function problemsOf({ metadata, spec }: Pod, claimName: string, state: StoredState): readonly string[] {
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
function volumeOf(claim: PersistentVolumeClaim, state: StoredState): PersistentVolume | undefined {
  const { volumeName = '' } = claim.spec ?? {};
  if (volumeName !== '') return state.get(persistentVolumes, volumeName);
  return [...state.values(persistentVolumes)].find(({ spec }) => spec?.claimRef?.uid === claim.metadata?.uid);
}

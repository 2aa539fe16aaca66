import type { Pod } from '../../kube/api/core.ts';
import type { ClusterSnapshot } from '../../state/cluster-snapshot.ts';
import { claimKeys } from '../view/claim-keys.ts';
import type { ClusterView, Target } from '../view/cluster-view.ts';
import type { Note } from '../view/note.ts';
import { explainClaim } from './explain-claim.ts';
import { type ExplainPodOptions, explainPod } from './explain-pod.ts';
import type { Explanation } from './explanation.ts';
import { missingKindNotes } from './missing-kinds.ts';
import { targetNotFound } from './not-found.ts';

/** Explains a pod or claim of the view; throws a `QuestionError` if it does not exist. `where` names the cluster in this error. */
export function explainTarget(
  view: ClusterView,
  target: Target,
  options: ExplainPodOptions & { readonly where: string },
): Explanation {
  const key = `${target.namespace}/${target.name}`;
  const { snapshot } = view;
  if (target.kind === 'pod') {
    const pod = snapshot.get('Pod', key);
    if (pod === undefined) throw targetNotFound(view, target, options.where);
    return explainPod(view, pod, options);
  }
  const claim = snapshot.get('PersistentVolumeClaim', key);
  if (claim === undefined) throw targetNotFound(view, target, options.where);
  return explainClaim(view, claim, options);
}

/** Notes about kinds that the files lack, and that the explanation of the target depends on. */
export function missingNotesOf({ snapshot }: ClusterView, target: Target): readonly Note[] {
  return missingKindNotes(snapshot, podsOf(snapshot, target));
}

/** The pods that an explanation is about. */
function podsOf(snapshot: ClusterSnapshot, { kind, namespace, name }: Target): readonly Pod[] {
  if (kind === 'pod') return [snapshot.get('Pod', `${namespace}/${name}`) ?? []].flat();
  return [...snapshot.values('Pod')].filter((pod) => claimKeys(pod).includes(`${namespace}/${name}`));
}

import type { Profile } from '../../../engine/cluster-index/profile.ts';
import type { ClusterView } from '../../view/cluster-view.ts';
import type { IndexOf } from '../explain-pod.ts';

/** Explaining does not change the index, so pods of one scheduler share it. Profiles are compared by value. */
export function indexPerProfile(
  view: ClusterView,
  changed: (profile: Profile) => Profile = (profile) => profile,
): IndexOf {
  const made = new Map<string, ReturnType<IndexOf>>();
  return (profile) => {
    const asked = changed(profile);
    const key = JSON.stringify(asked);
    const known = made.get(key) ?? view.snapshot.toIndex(asked);
    made.set(key, known);
    return known;
  };
}

/** kube-scheduler's reasons for refusing a node. */
export const reasons = {
  volumeElsewhere: "node(s) didn't match PersistentVolume's node affinity",
  noVolume: "node(s) didn't find available persistent volumes to bind",
  noSpace: 'node(s) did not have enough free storage',
  volumeMissing: 'node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)',
  tooManyVolumes: 'node(s) exceed max volume count',
  zone: 'node(s) had no available volume zone',
} as const;

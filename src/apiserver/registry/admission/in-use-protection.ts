import type { RegistryContext } from '../context/registry-context.ts';
import { isKind, type WriteAttempt } from './write-attempt.ts';

/** Finalizers that protect objects in use; the `protection` controller removes them from unused objects. */
const protections = [
  { group: '', kind: 'PersistentVolume', finalizer: 'kubernetes.io/pv-protection' },
  { group: '', kind: 'PersistentVolumeClaim', finalizer: 'kubernetes.io/pvc-protection' },
  { group: 'storage.k8s.io', kind: 'VolumeAttributesClass', finalizer: 'kubernetes.io/vac-protection' },
];

export function protectInUse(_context: RegistryContext, attempt: WriteAttempt): void {
  if (attempt.operation !== 'CREATE') return;
  const protection = protections.find(({ group, kind }) => isKind(attempt, group, kind));
  if (protection === undefined) return;
  const { metadata } = attempt.object;
  const finalizers = metadata.finalizers ?? [];
  if (!finalizers.includes(protection.finalizer)) metadata.finalizers = [...finalizers, protection.finalizer];
}

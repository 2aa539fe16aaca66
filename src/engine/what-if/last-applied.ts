import type { KubeObject } from '../../kube/api/meta.ts';
import { isRecord } from '../../kube/wire.ts';

const lastAppliedAnnotation = 'kubectl.kubernetes.io/last-applied-configuration';

/** The object as `kubectl apply` has sent it the last time; undefined if it was not created by kubectl apply. */
export function lastApplied({ metadata }: KubeObject): Readonly<Record<string, unknown>> | undefined {
  const text = metadata?.annotations?.[lastAppliedAnnotation];
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : undefined;
  } catch {
    // An annotation that kubectl has not written: as if there were none.
    return undefined;
  }
}

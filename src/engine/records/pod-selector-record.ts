import type { ReplicaSet, StatefulSet } from '../../kube/api/apps.ts';
import type { ReplicationController, Service } from '../../kube/api/core.ts';
import type { KubeObject } from '../../kube/api/meta.ts';
import { type CompiledLabelSelector, compileLabelSelector } from '../../kube/selectors/label-selector.ts';
import { textOf } from '../../kube/wire.ts';
import { nonNullItems, stringMapOf } from './field-readers.ts';
import { type Identity, namespacedIdentity } from './identity.ts';

/** The selector of a Service, ReplicationController, ReplicaSet or StatefulSet: default topology spreading uses it to find related pods. */
export interface PodSelectorRecord extends Identity {
  readonly namespace: string;
  /** Undefined if the object selects no pods, or the selector can't be read. */
  readonly selector: CompiledLabelSelector | undefined;
  /** The names of a StatefulSet's volume claim templates. */
  readonly claimTemplates?: readonly string[];
}

/** For kinds whose selector is a map of labels. */
export function readMapSelector(object: Service | ReplicationController): PodSelectorRecord {
  const matchLabels = stringMapOf(object.spec?.selector);
  return podSelectorRecord(object, Object.keys(matchLabels).length === 0 ? undefined : { matchLabels });
}

export function readLabelSelector(object: ReplicaSet | StatefulSet): PodSelectorRecord {
  return podSelectorRecord(object, object.spec?.selector);
}

export function readStatefulSet(object: StatefulSet): PodSelectorRecord {
  const templates = nonNullItems(object.spec?.volumeClaimTemplates);
  const claimTemplates = templates.map(({ metadata }) => textOf(metadata?.name));
  return { ...readLabelSelector(object), claimTemplates };
}

function podSelectorRecord(
  object: KubeObject,
  selector: Parameters<typeof compileLabelSelector>[0],
): PodSelectorRecord {
  const { key, uid, version, isDeleting } = namespacedIdentity(object);
  const compiled = selector === undefined ? undefined : compileLabelSelector(selector, 'spec.selector');
  return {
    key,
    uid,
    version,
    isDeleting,
    namespace: textOf(object.metadata?.namespace),
    selector: compiled?.ok === true ? compiled.selector : undefined,
  };
}

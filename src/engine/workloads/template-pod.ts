import type { Pod, PodTemplateSpec } from '../../kube/api/core.ts';
import type { OwnerReference } from '../../kube/api/meta.ts';

/** A pod from the template, owned by its controller; the caller sets its name. */
export function podFromTemplate(
  { metadata = {}, spec }: PodTemplateSpec,
  namespace: string,
  owner: OwnerReference,
): Pod {
  const { labels, annotations, finalizers } = metadata;
  return {
    metadata: {
      namespace,
      ...(labels === undefined ? {} : { labels }),
      ...(annotations === undefined ? {} : { annotations }),
      ...(finalizers === undefined ? {} : { finalizers }),
      ownerReferences: [owner],
    },
    ...(spec === undefined ? {} : { spec }),
  };
}

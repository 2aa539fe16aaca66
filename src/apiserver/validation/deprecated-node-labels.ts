import type { NodeSelectorTerm, TopologySelectorTerm } from '../../kube/api/stored/core.ts';
import type { LabelSelector } from '../../kube/api/stored/meta.ts';

/** Node labels with newer names, and the texts of Kubernetes' warnings about selectors that use them. */
const deprecatedLabels: Readonly<Record<string, string>> = {
  'beta.kubernetes.io/arch': 'deprecated since v1.14; use "kubernetes.io/arch" instead',
  'beta.kubernetes.io/os': 'deprecated since v1.14; use "kubernetes.io/os" instead',
  'failure-domain.beta.kubernetes.io/region':
    'deprecated since v1.17; use "topology.kubernetes.io/region" instead',
  'failure-domain.beta.kubernetes.io/zone':
    'deprecated since v1.17; use "topology.kubernetes.io/zone" instead',
  'beta.kubernetes.io/instance-type':
    'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead',
  'app.kubernetes.io/created-by': 'deprecated since v1.9',
  'scheduler.alpha.kubernetes.io/preferAvoidPods':
    'deprecated since v1.22; use Taints and Tolerations instead',
  'node-role.kubernetes.io/master': 'use "node-role.kubernetes.io/control-plane" instead',
};

export function nodeSelectorTermWarnings(field: string, term: NodeSelectorTerm): readonly string[] {
  return (term.matchExpressions ?? []).flatMap(({ key }, index) => {
    const deprecation = nodeLabelDeprecation(key);
    return deprecation === undefined
      ? []
      : [`${field}.matchExpressions[${index}].key: ${key} is ${deprecation}`];
  });
}

export function labelSelectorWarnings(field: string, selector: LabelSelector | undefined): readonly string[] {
  const labels = Object.keys(selector?.matchLabels ?? {}).flatMap((label) => {
    const deprecation = nodeLabelDeprecation(label);
    return deprecation === undefined ? [] : [`${field}.matchLabels.${label}: ${deprecation}`];
  });
  return [...nodeSelectorTermWarnings(field, { matchExpressions: selector?.matchExpressions }), ...labels];
}

export function topologyWarnings(
  field: string,
  terms: readonly TopologySelectorTerm[] | undefined,
): readonly string[] {
  return (terms ?? []).flatMap((term, termIndex) =>
    (term.matchLabelExpressions ?? []).flatMap(({ key }, index) => {
      const deprecation = nodeLabelDeprecation(key);
      const at = `${field}[${termIndex}].matchLabelExpressions[${index}].key`;
      return deprecation === undefined ? [] : [`${at}: ${deprecation}`];
    }),
  );
}

/** The deprecation text of a node label; undefined if it is not deprecated. */
export function nodeLabelDeprecation(label: string): string | undefined {
  return Object.hasOwn(deprecatedLabels, label) ? deprecatedLabels[label] : undefined;
}

import type { Pod } from '../../../../kube/api/stored/core.ts';
import { isSemanticallyEqual } from '../../../../kube/deep-equal.ts';
import { dnsLabelProblems, nameRules } from '../../../validation/names.ts';
import type { ServedKind } from '../../served-kind.ts';
import { defaultPod } from './pod-defaults.ts';
import { validatePodStatus } from './pod-status-validation.ts';
import { podGraceSeconds, preparePod, preparePodStatus } from './pod-strategy.ts';
import { podColumns, podRow, podRowConditions } from './pod-table.ts';
import { validatePodUpdate } from './pod-update-validation.ts';
import { validatePod } from './pod-validation.ts';
import { podWarnings } from './pod-warnings.ts';

export const podKind: ServedKind<Pod> = {
  group: '',
  version: 'v1',
  kind: 'Pod',
  plural: 'pods',
  singular: 'pod',
  shortNames: ['po'],
  categories: ['all'],
  namespaced: true,
  type: 'core/v1.Pod',
  nameRule: nameRules.dnsSubdomain,
  hasStatus: true,
  hasGeneration: true,
  returnsDeletedObject: true,
  subresources: [
    { name: 'binding', kind: 'Binding', type: 'core/v1.Binding', verbs: ['create'] },
    {
      name: 'eviction',
      kind: 'Eviction',
      group: 'policy',
      version: 'v1',
      type: 'policy/v1.Eviction',
      verbs: ['create'],
    },
  ],

  defaults: defaultPod,
  prepareCreate: preparePod,
  prepareUpdate(pod, old) {
    pod.status = old.status;
  },
  prepareStatus: preparePodStatus,
  incrementsGeneration: (pod, old) => !isSemanticallyEqual(pod.spec, old.spec),
  validate: validatePod,
  validateUpdate: validatePodUpdate,
  validateStatus: validatePodStatus,
  /** Only creations get warnings: mostly controllers update pods, and often. */
  warnings: (pod, old) => (old === undefined ? [...nameWarnings(pod), ...podWarnings(pod)] : []),
  graceSeconds: podGraceSeconds,

  selectableFields: {
    'spec.nodeName': ({ spec }) => spec.nodeName ?? '',
    'spec.host': ({ spec }) => spec.nodeName ?? '',
    'spec.restartPolicy': ({ spec }) => spec.restartPolicy ?? '',
    'spec.schedulerName': ({ spec }) => spec.schedulerName ?? '',
    'spec.serviceAccountName': ({ spec }) => spec.serviceAccountName ?? '',
    'spec.hostNetwork': ({ spec }) => String(spec.hostNetwork === true),
    'status.phase': ({ status }) => status.phase ?? '',
    'status.podIP': ({ status }) => status.podIPs?.[0]?.ip ?? '',
    // Kubernetes accepts this selector, but no pod has a value for it.
    'status.podIPs': () => '',
    'status.nominatedNodeName': ({ status }) => status.nominatedNodeName ?? '',
  },
  columns: podColumns,
  row: podRow,
  rowConditions: podRowConditions,
};

function nameWarnings({ metadata }: Pod): readonly string[] {
  const problems = dnsLabelProblems(metadata.name ?? '');
  if (problems.length === 0) return [];
  const what = "this is used in the Pod's hostname, which can result in surprising behavior";
  return [`metadata.name: ${what}; a DNS label is recommended: [${problems.join(' ')}]`];
}

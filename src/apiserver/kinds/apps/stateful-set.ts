import type { StatefulSet, StatefulSetUpdateStrategy } from '../../../kube/api/stored/apps.ts';
import type { PersistentVolumeClaim } from '../../../kube/api/stored/core.ts';
import { nameRules } from '../../validation/names.ts';
import { scaleOf } from '../autoscaling/scale.ts';
import { dropDisabledFields } from '../core/pods/spec-defaults/disabled-fields.ts';
import { defaultPodTemplate } from '../core/pods/template-rules.ts';
import { claimSpecWarnings, defaultClaimSpec } from '../core/volumes/claim-spec-rules.ts';
import { templateWarnings } from '../core/workloads/template-checks.ts';
import { containerCells, containerColumns } from '../core/workloads/workload-cells.ts';
import type { ServedKind } from '../served-kind.ts';
import { age, ageColumn, nameColumn } from '../table-cells.ts';
import {
  checkStatefulSet,
  checkStatefulSetStatus,
  checkStatefulSetUpdate,
} from './stateful-set-validation.ts';

export const statefulSetKind: ServedKind<StatefulSet> = {
  group: 'apps',
  version: 'v1',
  kind: 'StatefulSet',
  plural: 'statefulsets',
  singular: 'statefulset',
  shortNames: ['sts'],
  categories: ['all'],
  namespaced: true,
  type: 'apps/v1.StatefulSet',
  nameRule: nameRules.dnsLabel,
  hasStatus: true,
  hasGeneration: true,
  scale: {
    read: ({ spec, status }) => scaleOf(spec.replicas, status.replicas, spec.selector),
    write(set, replicas) {
      set.spec.replicas = replicas;
    },
  },

  defaults({ spec }) {
    defaultPodTemplate(spec.template);
    spec.volumeClaimTemplates?.forEach(defaultClaimTemplate);
    spec.podManagementPolicy ||= 'OrderedReady';
    defaultUpdateStrategy(spec.updateStrategy);
    spec.persistentVolumeClaimRetentionPolicy ??= {};
    spec.persistentVolumeClaimRetentionPolicy.whenDeleted ||= 'Retain';
    spec.persistentVolumeClaimRetentionPolicy.whenScaled ||= 'Retain';
    spec.replicas ??= 1;
    spec.revisionHistoryLimit ??= 10;
  },
  prepareCreate(set) {
    set.status = { replicas: 0, availableReplicas: 0 };
    dropDisabledFields(set.spec.template.spec);
    delete set.spec.updateStrategy.rollingUpdate?.maxUnavailable;
  },
  prepareUpdate(set, old) {
    set.status = old.status;
    dropDisabledFields(set.spec.template.spec);
    if (old.spec.updateStrategy.rollingUpdate?.maxUnavailable === undefined) {
      delete set.spec.updateStrategy.rollingUpdate?.maxUnavailable;
    }
  },
  validate: checkStatefulSet,
  validateUpdate: checkStatefulSetUpdate,
  validateStatus: checkStatefulSetStatus,
  warnings(set, old) {
    const { spec } = set;
    const claims = spec.volumeClaimTemplates ?? [];
    return [
      ...templateWarnings(set, old, spec.template),
      ...claims.flatMap((claim, index) =>
        claimSpecWarnings(`spec.volumeClaimTemplates[${index}]${old ? '.Spec' : ''}`, claim.spec),
      ),
      ...((spec.revisionHistoryLimit ?? 0) < 0 ? [historyWarning] : []),
    ];
  },

  columns: [nameColumn, { name: 'Ready', type: 'string' }, ageColumn, ...containerColumns],
  row(set, context) {
    const { spec, status } = set;
    return [
      set.metadata.name ?? '',
      `${status.readyReplicas ?? 0}/${spec.replicas ?? 0}`,
      age(set, context),
      ...containerCells(spec.template),
    ];
  },
};

const historyWarning =
  'spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended';

/** An absent type brings the default rolling update with it; an explicit type does not. */
function defaultUpdateStrategy(strategy: StatefulSetUpdateStrategy): void {
  if (!strategy.type) {
    strategy.type = 'RollingUpdate';
    strategy.rollingUpdate ??= {};
  }
  if (strategy.type === 'RollingUpdate' && strategy.rollingUpdate) strategy.rollingUpdate.partition ??= 0;
}

/** Claim templates get apiVersion, kind and the status of a new claim. */
function defaultClaimTemplate(claim: PersistentVolumeClaim): void {
  claim.kind = 'PersistentVolumeClaim';
  claim.apiVersion = 'v1';
  defaultClaimSpec(claim.spec);
  claim.status.phase ||= 'Pending';
}

import type { PodSpec } from '../../../../../kube/api/stored/core.ts';
import { roundToMilli } from '../../resources/resource-list.ts';
import { defaultContainer } from './container-defaults.ts';
import { dropDisabledFields } from './disabled-fields.ts';
import { defaultVolume } from './volume-defaults.ts';

/** Defaults of every pod spec, in pods and in pod templates. */
export function defaultPodSpec(spec: PodSpec): void {
  dropDisabledFields(spec);
  spec.dnsPolicy ||= 'ClusterFirst';
  spec.restartPolicy ||= 'Always';
  spec.securityContext ??= {};
  spec.terminationGracePeriodSeconds ??= defaultGraceSeconds;
  spec.schedulerName ||= 'default-scheduler';
  syncServiceAccount(spec);
  for (const volume of spec.volumes ?? []) defaultVolume(volume);
  for (const container of spec.initContainers ?? []) defaultContainer(container);
  for (const container of spec.containers ?? []) defaultContainer(container);
  for (const container of spec.ephemeralContainers ?? []) defaultContainer(container);
  roundToMilli(spec.overhead);
  roundToMilli(spec.resources?.limits);
  roundToMilli(spec.resources?.requests);
}

const defaultGraceSeconds = 30;

/** Two names of one field. The newer one, `serviceAccountName`, wins. */
function syncServiceAccount(spec: PodSpec): void {
  const name = spec.serviceAccountName || spec.serviceAccount;
  if (!name) return;
  spec.serviceAccountName = name;
  spec.serviceAccount = name;
}

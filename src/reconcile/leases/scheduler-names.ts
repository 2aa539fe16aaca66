import type { Pod } from '../../kube/api/core.ts';

/** The name of the controller: in its Lease, and in the `reportingController` of its Events. */
export const schedulerName = 'scheduler';

/** `spec.schedulerName` of the pods that it places, unless the options say otherwise. */
export const schedulerNamesDefault: readonly string[] = ['stowage'];

/** `spec.schedulerName` of pods that name no scheduler. */
export const defaultSchedulerName = 'default-scheduler';

/**
 * The component that reports events about the pod. Clients look for the events of `default-scheduler`, so those about its pods have
 * that name, whichever scheduler places them; undefined for the controller's own name.
 */
export function reportingControllerFor(pod: Pod): { readonly reportingController?: string } {
  const { schedulerName: name = defaultSchedulerName } = pod.spec ?? {};
  return name === defaultSchedulerName ? { reportingController: defaultSchedulerName } : {};
}

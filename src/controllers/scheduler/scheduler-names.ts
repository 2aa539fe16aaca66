/** The name of the controller: in its Lease, and in the `reportingController` of its Events. */
export const schedulerName = 'scheduler';

/** `spec.schedulerName` of the pods that it places, unless the options say otherwise. */
export const schedulerNamesDefault: readonly string[] = ['stowage'];

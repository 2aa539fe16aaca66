import type { Container, ContainerStatus, Pod, ResourceStatus } from '../../../../kube/api/stored/core.ts';
import { ownValue } from '../../../../kube/go/json-value.ts';
import { utf8Length } from '../../../../kube/go/quote.ts';
import { checkSupported } from '../../../validation/enums.ts';
import type { FieldErrors } from '../../../validation/field-errors.ts';

/** Container statuses may report the health only of devices that the container requested. */
export function checkResourceHealth(errors: FieldErrors, { spec, status }: Pod): void {
  checkStatuses(errors, 'status.containerStatuses', status.containerStatuses, spec.containers ?? []);
  checkStatuses(
    errors,
    'status.initContainerStatuses',
    status.initContainerStatuses,
    spec.initContainers ?? [],
  );
  status.ephemeralContainerStatuses?.forEach(({ allocatedResourcesStatus }, index) => {
    if (!allocatedResourcesStatus?.length) return;
    const field = `status.ephemeralContainerStatuses[${index}].allocatedResourcesStatus`;
    errors.forbidden(field, 'must not be specified in container status');
  });
}

const messageBytesMax = 1024;

function checkStatuses(
  errors: FieldErrors,
  field: string,
  statuses: readonly ContainerStatus[] = [],
  containers: readonly Container[],
): void {
  statuses.forEach(({ name, allocatedResourcesStatus }, index) => {
    const container = containers.find((each) => each.name === name);
    allocatedResourcesStatus?.forEach((resource, resourceIndex) => {
      const at = `${field}[${index}].allocatedResourcesStatus[${resourceIndex}]`;
      if (container) checkRequested(errors, `${at}.name`, resource.name, container);
      checkDevices(errors, `${at}.resources`, resource);
    });
  });
}

function checkRequested(errors: FieldErrors, field: string, name: string, { resources }: Container): void {
  if (name.startsWith('claim:')) {
    const requested = resources?.claims?.map(
      (claim) => `claim:${[claim.name, claim.request].filter(Boolean).join('/')}`,
    );
    if (requested?.includes(name)) return;
    const detail =
      "must match one of the container's resource claims in a format 'claim:<claimName>/<request>' or 'claim:<claimName>' if request is empty";
    errors.invalid(field, name, detail);
  } else if (ownValue(resources?.requests, name) === undefined) {
    errors.invalid(field, name, "must match one of the container's resource requests");
  }
}

function checkDevices(errors: FieldErrors, field: string, { resources }: ResourceStatus): void {
  const seen = new Set<string>();
  resources?.forEach(({ resourceID, health = '', message }, index) => {
    const at = `${field}[${index}]`;
    checkSupported(errors, `${at}.health`, health, ['Healthy', 'Unhealthy', 'Unknown']);
    if (message === '') errors.required(`${at}.message`, 'must be non-empty if specified');
    else if (message !== undefined && utf8Length(message) > messageBytesMax) {
      errors.tooLong(`${at}.message`, messageBytesMax);
    }
    if (seen.has(resourceID)) errors.duplicate(`${at}.resourceID`, resourceID);
    seen.add(resourceID);
  });
}

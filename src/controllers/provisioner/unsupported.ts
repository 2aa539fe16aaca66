import { claimClassName } from '../../kube/volumes.ts';
import { textOf } from '../../kube/wire.ts';
import { type ProvisionRequest, type RefusedOutcome, refusedOutcome } from './provisioner.ts';

/** Requests that neither of our provisioners supports. */
export function refuseUnsupported(name: string, { claim }: ProvisionRequest): RefusedOutcome | undefined {
  const { selector, dataSource, dataSourceRef, volumeAttributesClassName } = claim.spec ?? {};
  if (selector !== undefined && selector !== null)
    return refusedOutcome('claim.spec.selector is not supported for dynamic provisioning; remove it');
  if ((dataSource ?? dataSourceRef ?? undefined) !== undefined)
    return refusedOutcome(
      `plugin "${name}" is not a CSI plugin. Only CSI plugin can provision a claim with a datasource`,
    );
  if (textOf(volumeAttributesClassName) !== '')
    return refusedOutcome(
      `class "${claimClassName(claim)}" has no volume attributes; remove spec.volumeAttributesClassName`,
    );
  return undefined;
}

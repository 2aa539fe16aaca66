import { claimClassName } from '../../kube/volumes.ts';
import { textOf } from '../../kube/wire.ts';
import { type ProvisionRequest, type Refused, refused } from './provisioner.ts';

/** What a claim may ask for and neither of our own provisioners can do. */
export function refuseUnsupported(name: string, { claim }: ProvisionRequest): Refused | undefined {
  const { selector, dataSource, dataSourceRef, volumeAttributesClassName } = claim.spec ?? {};
  if (selector !== undefined && selector !== null)
    return refused('claim.spec.selector is not supported for dynamic provisioning; remove it');
  if ((dataSource ?? dataSourceRef ?? undefined) !== undefined)
    return refused(
      `plugin "${name}" is not a CSI plugin. Only CSI plugin can provision a claim with a datasource`,
    );
  if (textOf(volumeAttributesClassName) !== '')
    return refused(
      `class "${claimClassName(claim)}" has no volume attributes; remove spec.volumeAttributesClassName`,
    );
  return undefined;
}

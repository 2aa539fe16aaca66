import type { ServiceAccount } from '../../../../kube/api/stored/core.ts';
import { nameRules } from '../../../validation/names.ts';
import type { ServedKind } from '../../served-kind.ts';
import { age, ageColumn, nameColumn } from '../../table-cells.ts';

export const serviceAccountKind: ServedKind<ServiceAccount> = {
  group: '',
  version: 'v1',
  kind: 'ServiceAccount',
  plural: 'serviceaccounts',
  singular: 'serviceaccount',
  shortNames: ['sa'],
  namespaced: true,
  type: 'core/v1.ServiceAccount',
  nameRule: nameRules.dnsSubdomain,
  subresources: [
    {
      name: 'token',
      kind: 'TokenRequest',
      group: 'authentication.k8s.io',
      version: 'v1',
      type: 'authentication.k8s.io/v1.TokenRequest',
      verbs: ['create'],
    },
  ],
  hasStatus: false,
  hasGeneration: false,
  returnsDeletedObject: true,

  prepareCreate: cleanReferences,
  prepareUpdate: cleanReferences,
  /** A service account has no field that could be invalid. */
  validate() {},
  warnings({ metadata }, old) {
    const isNew =
      metadata.annotations?.[enforceKey] !== undefined && !old?.metadata.annotations?.[enforceKey];
    return isNew ? [enforceWarning] : [];
  },

  columns: [nameColumn, ageColumn],
  row: (account, context) => [account.metadata.name ?? '', age(account, context)],
};

const enforceKey = 'kubernetes.io/enforce-mountable-secrets';
const enforceWarning = `metadata.annotations[${enforceKey}]: deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets`;

/** The secrets are in the account's own namespace, so the references keep only their names. */
function cleanReferences(account: ServiceAccount): void {
  account.secrets = account.secrets?.map(({ name }) => ({ name }));
}

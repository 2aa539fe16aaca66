import type { Int64 } from '../../../kube/api/stored/meta.ts';
import type { CSIDriver, TokenRequest } from '../../../kube/api/stored/storage.ts';
import { isSemanticallyEqual } from '../../../kube/deep-equal.ts';
import { nextInt64 } from '../../../kube/go/int64.ts';
import { checkSupported } from '../../validation/enums.ts';
import type { FieldErrors } from '../../validation/field-errors.ts';
import { checkImmutable } from '../../validation/immutable.ts';
import { nameRules } from '../../validation/names.ts';
import type { RowContext, ServedKind, TableCell } from '../served-kind.ts';
import { age, ageColumn, nameColumn, orNone, unsetCell } from '../table-cells.ts';

export const csiDriverKind: ServedKind<CSIDriver> = {
  group: 'storage.k8s.io',
  version: 'v1',
  kind: 'CSIDriver',
  plural: 'csidrivers',
  singular: 'csidriver',
  namespaced: false,
  type: 'storage.k8s.io/v1.CSIDriver',
  nameRule: nameRules.dnsSubdomain,
  returnsDeletedObject: true,
  hasStatus: false,
  /**
   * The registry would set the generation at creation; Kubernetes starts with the first change. So this kind increments
   * it itself.
   */
  hasGeneration: false,
  requiresResourceVersion: true,

  defaults: ({ spec }) => {
    spec.attachRequired ??= true;
    spec.podInfoOnMount ??= false;
    spec.storageCapacity ??= false;
    spec.fsGroupPolicy ??= 'ReadWriteOnceWithFSType';
    if ((spec.volumeLifecycleModes ?? []).length === 0) spec.volumeLifecycleModes = ['Persistent'];
    spec.requiresRepublish ??= false;
    spec.seLinuxMount ??= false;
  },
  prepareCreate: ({ spec }) => dropDisabled(spec),
  prepareUpdate: ({ metadata, spec }, old) => {
    if (old.spec.preventPodSchedulingIfMissing === undefined) dropDisabled(spec);
    if (!isSemanticallyEqual(spec, old.spec)) metadata.generation = nextInt64(old.metadata.generation ?? 0);
  },
  validate: checkDriver,
  validateUpdate: (driver, old, errors) => {
    checkDriver(driver, errors);
    const { attachRequired, volumeLifecycleModes } = driver.spec;
    checkImmutable(errors, 'spec.attachedRequired', attachRequired, old.spec.attachRequired);
    const oldModes = old.spec.volumeLifecycleModes;
    checkImmutable(errors, 'spec.volumeLifecycleModes', volumeLifecycleModes, oldModes);
  },
  warnings,

  columns: [
    nameColumn,
    { name: 'AttachRequired', type: 'boolean' },
    { name: 'PodInfoOnMount', type: 'boolean' },
    { name: 'StorageCapacity', type: 'boolean' },
    { name: 'TokenRequests', type: 'string' },
    { name: 'RequiresRepublish', type: 'boolean' },
    { name: 'Modes', type: 'string' },
    ageColumn,
  ],
  row,
};

const groupPolicies = ['File', 'None', 'ReadWriteOnceWithFSType'];
const lifecycleModes = ['Persistent', 'Ephemeral'];

const updatePeriodSecondsMin = 10;
const tokenSecondsMin = 600;
const tokenSecondsMax = 2 ** 32;

/** A field of a feature gate that is off by default. */
function dropDisabled(spec: CSIDriver['spec']): void {
  delete spec.preventPodSchedulingIfMissing;
}

/** Kubernetes reports attachRequired under another name, which users search for. */
function checkDriver({ spec }: CSIDriver, errors: FieldErrors): void {
  if (spec.attachRequired === undefined) errors.required('spec.attachedRequired');
  if (spec.podInfoOnMount === undefined) errors.required('spec.podInfoOnMount');
  if (spec.storageCapacity === undefined) errors.required('spec.storageCapacity');
  if (spec.fsGroupPolicy !== undefined) {
    checkSupported(errors, 'spec.fsGroupPolicy', spec.fsGroupPolicy, groupPolicies);
  }
  checkTokenRequests(errors, 'spec.tokenRequests', spec.tokenRequests ?? []);
  for (const mode of spec.volumeLifecycleModes ?? []) {
    checkSupported(errors, 'spec.volumeLifecycleModes', mode, lifecycleModes);
  }
  if (spec.seLinuxMount === undefined) errors.required('spec.seLinuxMount');
  checkUpdatePeriod(errors, spec.nodeAllocatableUpdatePeriodSeconds);
  if (spec.serviceAccountTokenInSecrets !== undefined && (spec.tokenRequests ?? []).length === 0) {
    const detail = 'serviceAccountTokenInSecrets is set but no tokenRequests are specified';
    errors.invalid('spec.serviceAccountTokenInSecrets', spec.serviceAccountTokenInSecrets, detail);
  }
}

function checkUpdatePeriod(errors: FieldErrors, seconds: Int64 | undefined): void {
  if (seconds === undefined || seconds >= updatePeriodSecondsMin) return;
  const detail = 'must be greater than or equal to 10 seconds';
  errors.invalid('spec.nodeAllocatableUpdatePeriodSeconds', seconds, detail);
}

function checkTokenRequests(errors: FieldErrors, field: string, requests: readonly TokenRequest[]): void {
  const audiences = new Set<string>();
  requests.forEach(({ audience, expirationSeconds: seconds }, index) => {
    if (audiences.has(audience)) {
      errors.duplicate(`${field}[${index}].audience`, audience);
      return;
    }
    audiences.add(audience);
    if (seconds === undefined) return;
    const at = `${field}[${index}].expirationSeconds`;
    if (seconds < tokenSecondsMin) {
      errors.invalid(at, seconds, 'may not specify a duration less than 10 minutes');
    }
    if (seconds > tokenSecondsMax) {
      errors.invalid(at, seconds, 'may not specify a duration larger than 2^32 seconds');
    }
  });
}

/** Only when the token requests change, not at every update. */
function warnings({ spec }: CSIDriver, old: CSIDriver | undefined): readonly string[] {
  if ((spec.tokenRequests ?? []).length === 0 || spec.serviceAccountTokenInSecrets !== undefined) return [];
  if (old !== undefined && isSemanticallyEqual(spec.tokenRequests, old.spec.tokenRequests)) return [];
  return [
    'spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent possible logging of tokens in volume attributes',
  ];
}

function row(driver: CSIDriver, context: RowContext): readonly TableCell[] {
  const { metadata, spec } = driver;
  return [
    metadata.name ?? '',
    spec.attachRequired ?? true,
    spec.podInfoOnMount ?? false,
    spec.storageCapacity ?? false,
    spec.tokenRequests?.map(({ audience }) => audience).join(',') ?? unsetCell,
    spec.requiresRepublish ?? false,
    orNone((spec.volumeLifecycleModes ?? []).join(',')),
    age(driver, context),
  ];
}

import { storedOnlyText } from '../../src/apiserver/kinds/stored-only-kinds.ts';
import type { Difference } from './compare.ts';

/**
 * An intended difference from the real server. The tests check that the list is exact: a difference that is not listed fails, and so does
 * an entry that no longer matches any difference. A star matches any text.
 */
export interface KnownDifference {
  readonly scenario: string;
  /** Method and path of the step. */
  readonly request?: string;
  readonly path: string;
  readonly reason: string;
  /** An additional condition on the difference. */
  readonly accepts?: (difference: Difference) => boolean;
}

/** For messages to which the real server appends a diff of two Go structs. */
const withoutGoDiff = (path: string, scenario: string): KnownDifference => ({
  scenario,
  path,
  reason:
    'A diff of Go structs helps only readers of the sources of Kubernetes; the sentence before it is the same.',
  accepts: ({ real, ours }) => text(real).replaceAll('\n<diff>', '') === ours,
});

const yamlError = 'error decoding YAML: error converting YAML to JSON: yaml: ';
const noProtobuf =
  'Responses are JSON or YAML. All clients accept JSON, so the server reads protobuf but never writes it.';
const nothingRuns = 'No containers run here, and there is no kubelet that could inspect or change them.';

const sentences: readonly KnownDifference[] = [
  withoutGoDiff('body.message', 'changes of *'),
  withoutGoDiff('body.details.causes[*].message', 'changes of *'),
  withoutGoDiff('body.message', 'PersistentVolume* of v1, applied'),
  withoutGoDiff('body.details.causes[*].message', 'PersistentVolume* of v1, applied'),
  withoutGoDiff('body.message', 'growth of a bound claim'),
  withoutGoDiff('body.details.causes[*].message', 'growth of a bound claim'),
  ...['body.message', 'body.details.causes[*].message'].flatMap((path) =>
    ['Job of batch/v1, applied', 'ResourceClaim* of resource.k8s.io/v1, applied'].map((scenario) => ({
      scenario,
      path,
      reason: 'The immutable value is shown as JSON, not as a Go struct.',
      accepts: ({ real, ours }: Difference) => withoutValues(real) === withoutValues(ours),
    })),
  ),
  {
    scenario: 'custom resources that scale',
    path: 'body.metadata.managedFields[1].time',
    reason: 'When a custom resource is scaled, the real server does not record the time.',
  },
  {
    scenario: 'applies that are no configurations',
    path: 'body.message',
    reason: 'Another YAML parser writes the error message.',
    accepts: ({ real, ours }) => [real, ours].every((it) => text(it).startsWith(yamlError)),
  },
  {
    scenario: 'numbers in applies',
    path: 'body.message',
    reason: 'The error for a value of the wrong type names the field; Go names only the type.',
    accepts: ({ real, ours }) =>
      /cannot convert float64 to int32$/.test(text(real)) && /Go struct field/.test(text(ours)),
  },
  {
    scenario: 'numbers in applies',
    path: 'status',
    reason:
      'A number that is too large is rejected as such; Kubernetes truncates it to 32 bits and validates the result.',
    accepts: ({ real, ours }) => /-1294967296/.test(text(real)) && /Go struct field/.test(text(ours)),
  },
  {
    scenario: 'media types of requests',
    path: 'body.message',
    reason: 'Another YAML parser writes the error message.',
    accepts: ({ real, ours }) =>
      [real, ours].every((it) => text(it).includes('unrecognized (must be of type')),
  },
  {
    scenario: 'strategic merge patches',
    path: 'body.*message',
    reason: 'The error for a value of the wrong type names the field; Go names only the type.',
    accepts: ({ real, ours }) =>
      /cannot restore slice|unrecognized type/.test(text(real)) && /Go struct field/.test(text(ours)),
  },
];

const media: readonly KnownDifference[] = [
  ...['media types of answers', 'discovery'].map((scenario) => ({
    scenario,
    path: 'body.message',
    reason: noProtobuf,
    accepts: ({ real, ours }: Difference) => withoutProtobuf(real) === ours,
  })),
  {
    scenario: 'discovery',
    request: 'GET /apis',
    path: 'body.*',
    reason: 'The list of groups rejects a media type with the same message as all other paths.',
    accepts: ({ ours }) =>
      ours === undefined || /^406: Not Acceptable/.test(text(ours)) || JSON.stringify(ours) === '{}',
  },
];

const absent: readonly KnownDifference[] = [
  ...['attach', 'exec', 'log', 'portforward', 'proxy', 'resize', 'ephemeralcontainers'].flatMap((part) => [
    { scenario: 'discovery', path: `body.items.v1.resources.*.subresources.${part}`, reason: nothingRuns },
    { scenario: 'discovery', path: `body.resources.*/${part}`, reason: nothingRuns },
    { scenario: 'OpenAPI', path: `body.operations./api/v1/*/{name}/${part}*`, reason: nothingRuns },
  ]),
  ...['resize', 'ephemeralcontainers'].map((part) => ({
    scenario: 'the other ways to change pods',
    request: `* */${part}`,
    path: 'status',
    reason: nothingRuns,
  })),
  ...[
    ['discovery', 'body.items.v1.resources.bindings'],
    ['discovery', 'body.resources.bindings'],
    ['OpenAPI', 'body.operations./api/v1/namespaces/{namespace}/bindings'],
    ['binding', 'status'],
  ].map(([scenario = '', path = '']) => ({
    scenario,
    path,
    reason: 'Schedulers bind through the subresource of the pod; no client uses the collection any more.',
    accepts: ({ ours }: Difference) => ours === undefined || text(ours).startsWith('404'),
  })),
  {
    scenario: 'eviction under a budget',
    path: 'status',
    reason: 'A version that was removed from discovery is not accepted any more: policy/v1beta1.',
    accepts: ({ ours }) => text(ours).startsWith('400 Eviction in version "v1beta1"'),
  },
];

const openapi: readonly KnownDifference[] = [
  {
    scenario: 'OpenAPI',
    path: 'body.schemas["io.k8s.api.core.v1.CSIVolumeSource"].fsSize',
    reason:
      'The size of an inline volume. Kubernetes has no field for it; without one, the scheduler could not reserve its capacity.',
    accepts: ({ real }) => real === undefined,
  },
  {
    scenario: 'OpenAPI',
    path: 'body.schemas*JSONSchemaProps"].*',
    reason:
      'Kubernetes writes a reference without allOf if it has no description; here all references are written the same way.',
    accepts: ({ real, ours }) => ours === `allOf:[${text(real)}]`,
  },
  {
    scenario: 'OpenAPI',
    path: 'body.schemas[*',
    reason: 'Enumerations and unions are not published: no client uses them to merge or validate.',
    accepts: ({ real, ours }) => withoutEnums(text(real)) === ours,
  },
  {
    scenario: 'OpenAPI',
    path: 'body.operations*.*',
    reason: 'Options that are not served are not published, and neither is the optional body of deletions.',
    accepts: ({ real, ours }) => servedOptions(text(real)) === servedOptions(text(ours)),
  },
  ...['Patch', 'Status', 'StatusCause', 'StatusDetails', 'Preconditions', 'DeleteOptions'].map((name) => ({
    scenario: 'OpenAPI',
    path: `body.schemas["io.k8s.apimachinery.pkg.apis.meta.v1.${name}"]*`,
    reason: 'The documents describe the kinds; responses and options are the same for all of them.',
    accepts: ({ path, ours }: Difference) => ours === undefined || path.endsWith('.is'),
  })),
];

const owners: readonly KnownDifference[] = [
  {
    scenario: 'DaemonSet of apps/v1, from creation to deletion',
    path: '*',
    reason:
      'The deprecated annotation for the template generation is an ordinary annotation here, and has no owner.',
    accepts: isOfTemplateGeneration,
  },
  ...['scale', 'scales that are applied', 'tables of workloads with a status'].map((scenario) => ({
    scenario,
    path: 'body.*managedFields*',
    reason:
      'A manager that scales then owns the replicas, with a time; Kubernetes loses the time, and at zero also the owner.',
  })),
  {
    scenario: 'metadata that is changed',
    path: 'body.metadata.managedFields',
    reason:
      'An empty list does not change the owners; a list with one empty entry removes them, as documented.',
  },
  {
    scenario: 'questions about access',
    path: 'body.metadata.managedFields',
    reason: 'Access reviews are not stored, so their fields have no owners.',
  },
  ...['tokens *', 'questions about what somebody may do', 'requests that everybody may make'].map(
    (scenario) => ({
      scenario,
      path: 'body.metadata.managedFields',
      reason: 'Access reviews and token requests are not stored, so their fields have no owners.',
    }),
  ),
  ...['body.message', 'body.details.causes[0].message'].map((path) => ({
    scenario: 'questions about what somebody may do',
    path,
    reason: 'The message does not show field owners, because an access review has none.',
    accepts: ({ real, ours }: Difference) => text(real).replace(/,"managedFields":\[.*\]/, '') === ours,
  })),
  {
    scenario: 'questions about access',
    path: 'body.status.userInfo.*',
    reason: 'The admin user of the embedded server has another name than that of the real server.',
  },
];

const rules: readonly KnownDifference[] = [
  {
    scenario: 'discovery',
    path: 'body.*customresourcedefinitions.storageVersionHash',
    reason: 'Kubernetes still stores definitions as v1beta1, this server as v1.',
  },
  {
    scenario: 'definitions with conversion',
    path: 'status',
    reason: 'This server calls no webhooks, and rejects definitions that need one.',
    accepts: ({ ours }) => /spec\.conversion\.strategy: Forbidden: .* calls no webhooks/.test(text(ours)),
  },
  {
    scenario: 'PersistentVolumeClaim of v1, applied',
    path: 'body.metadata.resourceVersion',
    reason:
      'Kubernetes stores a new claim again at the first write after its creation, even if nothing changes.',
  },
  {
    scenario: 'ResourceSlice of resource.k8s.io/v1, applied',
    path: 'body.*',
    reason:
      'Devices are stored for drivers and schedulers; this server does not validate the content of a slice.',
    accepts: ({ path }) => /^body\.(message|details\.causes)/.test(path),
  },
  ...[
    { scenario: 'Job of batch/v1, from creation to deletion', request: 'POST *' },
    { scenario: 'jobs that are refused' },
  ].map((where) => ({
    ...where,
    path: 'body.*',
    reason:
      'A job without labels gets those of its template at creation; Kubernetes adds them whenever it reads the job.',
    accepts: ({ ours }: Difference) => /metadata\.labels|spec\.template\.labels/.test(JSON.stringify(ours)),
  })),
  ...[
    { request: 'PATCH */large-controllerrevision', path: 'status' },
    { request: 'GET */large-controllerrevision', path: 'body.metadata.*' },
  ].map((where) => ({
    scenario: 'ControllerRevision of apps/v1, from creation to deletion',
    ...where,
    reason:
      'Kubernetes treats every strategic patch as a change of the data, which is immutable. That is a bug of Kubernetes.',
  })),
  {
    scenario: 'JSON patches',
    path: 'status',
    reason: 'A patch may replace the whole document according to RFC 6902; Kubernetes loses the document.',
    accepts: ({ real, ours }) => text(real).includes('undeterminable') && ours === '200 ConfigMap',
  },
  {
    scenario: 'paths that lead nowhere',
    request: 'GET *//*',
    path: 'status',
    reason: 'An empty path segment is a mistake of the client; a response with all namespaces would hide it.',
    accepts: ({ ours }) => text(ours).startsWith('404'),
  },
  {
    scenario: 'services that are refused',
    path: 'status',
    reason:
      'A dry run fails if the write would fail; Kubernetes allocates nothing in dry runs, and so rejects no port.',
    accepts: ({ ours }) => text(ours).includes('provided port is not in the valid range'),
  },
  {
    scenario: 'namespaces that are refused',
    path: 'status',
    reason: 'Pod security is not enforced, so its labels are ordinary labels.',
  },
  {
    scenario: 'changes of nodes',
    path: 'status',
    reason: 'preferAvoidPods was removed from the scheduler long ago; no component reads the annotation.',
    accepts: ({ real }) => text(real).includes('AvoidPods'),
  },
  {
    scenario: 'pods that are refused or warned of',
    path: 'headers',
    reason: 'A pod with the AppArmor annotation gets the field filled in, without a warning.',
    accepts: ({ real }) => JSON.stringify(real).includes('apparmor'),
  },
  {
    scenario: '*',
    path: 'headers*',
    reason:
      'A kind that no controller of this server acts on is stored only, and every write says so in a warning.',
    accepts: ({ real, ours }) => real === undefined && isStoredOnlyWarning(ours),
  },
  {
    scenario: 'watches of what happened',
    path: 'body[1].object.rows[0].cells[1]',
    reason: 'The empty row of a bookmark has empty cells of the type that the column declares.',
    accepts: ({ real, ours }) => real === 0 && ours === '',
  },
];

export const knownDifferences: readonly KnownDifference[] = [
  ...sentences,
  ...media,
  ...absent,
  ...openapi,
  ...owners,
  ...rules,
];

export function isKnown(
  known: KnownDifference,
  scenario: string,
  request: string,
  difference: Difference,
): boolean {
  return (
    matches(known.scenario, scenario) &&
    matches(known.request ?? '*', request) &&
    matches(known.path, difference.path) &&
    known.accepts?.(difference) !== false
  );
}

function matches(pattern: string, text: string): boolean {
  const parts = pattern.split('*').map((part) => part.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`, 's').test(text);
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** `ours` is all headers, all warnings, or one warning. */
export function isStoredOnlyWarning(ours: unknown): boolean {
  const warnings = JSON.stringify(ours ?? '').match(/299 - /g) ?? [];
  const storedOnly = JSON.stringify(ours ?? '').split(storedOnlyText).length - 1;
  return storedOnly > 0 && storedOnly === warnings.length;
}

function withoutValues(value: unknown): string {
  return text(value).replaceAll(/Invalid value: \{.*?\}: /g, 'Invalid value: <struct>: ');
}

function withoutProtobuf(value: unknown): string {
  return text(value).replaceAll(/, application\/vnd\.kubernetes\.protobuf(?:;stream=watch)?/g, '');
}

function withoutEnums(field: string): string {
  return field.replaceAll(/enum:\[[^\]]*\],/g, '').replace(/,unions:\[.*\]$/, '');
}

const unserved = /^-?(?:shardSelector|ignoreStoreReadErrorWithClusterBreakingPotential|\*\/\*)$/;

function servedOptions(operation: string): string {
  return operation
    .split(' ')
    .filter((word) => !unserved.test(word))
    .join(' ');
}

function isOfTemplateGeneration({ path, real, ours }: Difference): boolean {
  const annotation = 'deprecated.daemonset.template.generation';
  if (path.includes(annotation) || JSON.stringify(ours)?.includes(annotation)) return real === undefined;
  const rest = text(real).replace(`${annotation} `, '').replace(`annotations(. ${annotation}) `, '');
  return text(real).includes(annotation) && rest === ours;
}

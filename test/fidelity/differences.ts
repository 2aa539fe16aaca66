import type { Difference } from './compare.ts';

/**
 * What differs from the real server on purpose. The tests hold this list to be exact: what differs and is not in here fails, and so
 * does what is in here and differs no longer. Stars stand for anything.
 */
export interface KnownDifference {
  readonly scenario: string;
  /** Method and path, as the step has them. */
  readonly request?: string;
  readonly path: string;
  readonly reason: string;
  /** What must be true of it nevertheless. */
  readonly accepts?: (difference: Difference) => boolean;
}

/** Of sentences that the real server ends with the difference of two Go structs. */
const withoutGoDiff = (path: string, scenario: string): KnownDifference => ({
  scenario,
  path,
  reason:
    'A diff of Go structs helps nobody who does not read the sources of Kubernetes; the sentence before it is the same.',
  accepts: ({ real, ours }) => text(real).replaceAll('\n<diff>', '') === ours,
});

const yamlError = 'error decoding YAML: error converting YAML to JSON: yaml: ';
const noProtobuf = 'Answers are JSON or YAML. All clients accept JSON, so protobuf is read, never written.';
const nothingRuns =
  'Nothing runs here: there are no containers to look into, and no kubelet that would change them.';

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
      reason: 'What may not change is shown as the API writes it, not as a Go struct.',
      accepts: ({ real, ours }: Difference) => withoutValues(real) === withoutValues(ours),
    })),
  ),
  {
    scenario: 'custom resources that scale',
    path: 'body.metadata.managedFields[1].time',
    reason: 'Of scaling a custom resource the real server forgets when it was.',
  },
  {
    scenario: 'applies that are no configurations',
    path: 'body.message',
    reason: 'What is wrong with a YAML text is told in the words of another parser.',
    accepts: ({ real, ours }) => [real, ours].every((it) => text(it).startsWith(yamlError)),
  },
  {
    scenario: 'numbers in applies',
    path: 'body.message',
    reason: 'A value of the wrong type is told of with its field, where Go only names the type.',
    accepts: ({ real, ours }) =>
      /cannot convert float64 to int32$/.test(text(real)) && /Go struct field/.test(text(ours)),
  },
  {
    scenario: 'numbers in applies',
    path: 'status',
    reason:
      'A number that does not fit is refused as such; Kubernetes cuts it to 32 bits and judges the rest.',
    accepts: ({ real, ours }) => /-1294967296/.test(text(real)) && /Go struct field/.test(text(ours)),
  },
  {
    scenario: 'media types of requests',
    path: 'body.message',
    reason: 'What is wrong with a YAML text is told in the words of another parser.',
    accepts: ({ real, ours }) =>
      [real, ours].every((it) => text(it).includes('unrecognized (must be of type')),
  },
  {
    scenario: 'strategic merge patches',
    path: 'body.*message',
    reason: 'A value of the wrong type is told of with its field, where Go only names the type.',
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
    reason: 'The list of groups refuses a media type in the words of all other paths.',
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
    reason: 'Schedulers bind through the pod; the collection is a leftover that nobody uses.',
    accepts: ({ ours }: Difference) => ours === undefined || text(ours).startsWith('404'),
  })),
  {
    scenario: 'eviction under a budget',
    path: 'status',
    reason: 'Versions that are gone from discovery are not understood any more: policy/v1beta1.',
    accepts: ({ ours }) => text(ours).startsWith('400 Eviction in version "v1beta1"'),
  },
];

const openapi: readonly KnownDifference[] = [
  {
    scenario: 'OpenAPI',
    path: 'body.schemas*JSONSchemaProps"].*',
    reason:
      'References stand alone only where Kubernetes has nothing to describe; here they look the same everywhere.',
    accepts: ({ real, ours }) => ours === `allOf:[${text(real)}]`,
  },
  {
    scenario: 'OpenAPI',
    path: 'body.schemas[*',
    reason: 'Enumerations and unions are not published: no client merges or validates by them.',
    accepts: ({ real, ours }) => withoutEnums(text(real)) === ours,
  },
  {
    scenario: 'OpenAPI',
    path: 'body.operations*.*',
    reason:
      'Options that are not served are not published, nor is the body of deletions, which may be left out.',
    accepts: ({ real, ours }) => servedOptions(text(real)) === servedOptions(text(ours)),
  },
  ...['Patch', 'Status', 'StatusCause', 'StatusDetails', 'Preconditions', 'DeleteOptions'].map((name) => ({
    scenario: 'OpenAPI',
    path: `body.schemas["io.k8s.apimachinery.pkg.apis.meta.v1.${name}"]*`,
    reason: 'Documents describe the kinds; what answers and options look like is the same everywhere.',
    accepts: ({ path, ours }: Difference) => ours === undefined || path.endsWith('.is'),
  })),
];

const owners: readonly KnownDifference[] = [
  {
    scenario: 'DaemonSet of apps/v1, from creation to deletion',
    path: '*',
    reason:
      'The generation of the template, an annotation of old, is an ordinary annotation here and belongs to nobody.',
    accepts: isOfTemplateGeneration,
  },
  ...['scale', 'scales that are applied', 'tables of workloads with a status'].map((scenario) => ({
    scenario,
    path: 'body.*managedFields*',
    reason:
      'Whoever scales owns the replicas from then on, with a time; Kubernetes loses the time, and at zero the owner.',
  })),
  {
    scenario: 'metadata that is changed',
    path: 'body.metadata.managedFields',
    reason:
      'An empty list says nothing about owners; a list with one empty entry takes them away, as documented.',
  },
  {
    scenario: 'questions about access',
    path: 'body.metadata.managedFields',
    reason: 'Questions are not stored, so nobody owns their fields.',
  },
  ...['tokens *', 'questions about what somebody may do', 'requests that everybody may make'].map(
    (scenario) => ({
      scenario,
      path: 'body.metadata.managedFields',
      reason: 'Questions and wishes are not stored, so nobody owns their fields.',
    }),
  ),
  ...['body.message', 'body.details.causes[0].message'].map((path) => ({
    scenario: 'questions about what somebody may do',
    path,
    reason: 'The owners of fields of a question are not told, since it has none.',
    accepts: ({ real, ours }: Difference) => text(real).replace(/,"managedFields":\[.*\]/, '') === ours,
  })),
  {
    scenario: 'questions about access',
    path: 'body.status.userInfo.*',
    reason: 'The one user has another name than the one that the real server was started with.',
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
    reason: 'This server calls no webhooks, and says so when one is defined.',
    accepts: ({ ours }) => /spec\.conversion\.strategy: Forbidden: .* calls no webhooks/.test(text(ours)),
  },
  {
    scenario: 'PersistentVolumeClaim of v1, applied',
    path: 'body.metadata.resourceVersion',
    reason:
      'Kubernetes stores a new claim anew when it is written for the first time, also where nothing changes.',
  },
  {
    scenario: 'ResourceSlice of resource.k8s.io/v1, applied',
    path: 'body.*',
    reason:
      'Devices are stored for drivers and schedulers; what is wrong inside of a slice is for them to say.',
    accepts: ({ path }) => /^body\.(message|details\.causes)/.test(path),
  },
  ...[
    { scenario: 'Job of batch/v1, from creation to deletion', request: 'POST *' },
    { scenario: 'jobs that are refused' },
  ].map((where) => ({
    ...where,
    path: 'body.*',
    reason:
      'A job without labels has those of its template from the start; Kubernetes adds them whenever it reads the job.',
    accepts: ({ ours }: Difference) => /metadata\.labels|spec\.template\.labels/.test(JSON.stringify(ours)),
  })),
  ...[
    { request: 'PATCH */large-controllerrevision', path: 'status' },
    { request: 'GET */large-controllerrevision', path: 'body.metadata.*' },
  ].map((where) => ({
    scenario: 'ControllerRevision of apps/v1, from creation to deletion',
    ...where,
    reason:
      'Kubernetes takes every strategic patch for a change of the data, which is immutable: a bug of its own.',
  })),
  {
    scenario: 'JSON patches',
    path: 'status',
    reason: 'A patch may replace the whole document, as RFC 6902 says; Kubernetes loses the document.',
    accepts: ({ real, ours }) => text(real).includes('undeterminable') && ours === '200 ConfigMap',
  },
  {
    scenario: 'paths that lead nowhere',
    request: 'GET *//*',
    path: 'status',
    reason:
      'An empty part of a path is a mistake of whoever made the path: to answer with all namespaces would hide it.',
    accepts: ({ ours }) => text(ours).startsWith('404'),
  },
  {
    scenario: 'services that are refused',
    path: 'status',
    reason:
      'A dry run says what the write would say; Kubernetes allocates nothing in dry runs, and so refuses no port.',
    accepts: ({ ours }) => text(ours).includes('provided port is not in the valid range'),
  },
  {
    scenario: 'namespaces that are refused',
    path: 'status',
    reason: 'Pod security is not enforced, so its labels are labels like others.',
  },
  {
    scenario: 'changes of nodes',
    path: 'status',
    reason: 'preferAvoidPods was taken out of the scheduler long ago; nobody reads the annotation.',
    accepts: ({ real }) => text(real).includes('AvoidPods'),
  },
  {
    scenario: 'pods that are refused or warned of',
    path: 'headers',
    reason: 'Who annotates a pod for AppArmor gets the field filled in, without a warning.',
    accepts: ({ real }) => JSON.stringify(real).includes('apparmor'),
  },
  {
    scenario: 'watches of what happened',
    path: 'body[1].object.rows[0].cells[1]',
    reason: 'The empty row of a bookmark has empty cells, of the type that their column declares.',
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

import {
  asMetadata,
  asMetadataList,
  asTable,
  del,
  get,
  patch,
  post,
  put,
  type Scenario,
  type Step,
  scenario,
} from '../scenario.ts';

/** An example of a kind: everything that a scenario needs to create, read, update and delete two objects of it. */
export interface Sample {
  readonly apiVersion: string;
  readonly kind: string;
  readonly plural: string;
  readonly isClusterWide?: boolean;
  /** The smallest valid object; metadata is added. */
  readonly minimal: object;
  /** An object with most fields set; metadata is added. */
  readonly rich: object;
  /** Merge patches: an allowed update, and one of the status if the kind has a status. */
  readonly change: object;
  readonly status?: object;
  /** For kinds that restrict the names of their objects. */
  readonly names?: readonly [string, string];
}

/** Creation, reads in all formats, all kinds of updates, and deletion. */
export function lifecycle(sample: Sample): Scenario {
  const place = placeOf(sample);
  return scenario(
    `${sample.kind} of ${sample.apiVersion}, from creation to deletion`,
    creation(sample, place),
    reading(place),
    changing(sample, place),
    patching(place),
    sample.status === undefined ? [] : changingStatus(place, sample.status),
    ending(sample, place),
  );
}

export interface Place {
  readonly collection: string;
  readonly minimal: string;
  readonly rich: string;
  readonly names: readonly [string, string];
}

export function placeOf({ apiVersion, plural, isClusterWide, kind, names }: Sample): Place {
  const base = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const collection = isClusterWide ? `${base}/${plural}` : `${base}/namespaces/{{ns}}/${plural}`;
  const [small, large] = names ?? [`small-${kind.toLowerCase()}`, `large-${kind.toLowerCase()}`];
  return {
    collection,
    minimal: `${collection}/${small}`,
    rich: `${collection}/${large}`,
    names: [small, large],
  };
}

const labels = { fidelity: 'yes' };

function creation(
  { apiVersion, kind, minimal, rich }: Sample,
  { collection, names }: Place,
): readonly Step[] {
  const small = { apiVersion, kind, metadata: { name: names[0], labels }, ...minimal };
  const large = {
    apiVersion,
    kind,
    metadata: { name: names[1], labels, annotations: { note: 'rich' } },
    ...rich,
  };
  return [
    post(`${collection}?dryRun=All`, large, { form: 'metadata' }),
    post(collection, small),
    post(`${collection}?fieldValidation=Strict&fieldManager=maker`, large, { as: 'rich' }),
    post(collection, small),
    post(collection, { ...small, apiVersion: 'wrong/v1' }),
    post(collection, { ...small, metadata: { name: 'Not_Valid!' } }),
    post(`${collection}?fieldValidation=Strict`, { ...small, metadata: { name: 'odd' }, oddField: 1 }),
  ];
}

function reading({ collection, rich }: Place): readonly Step[] {
  const selected = `${collection}?labelSelector=fidelity%3Dyes`;
  return [
    get(rich),
    get(rich, { accept: asTable }),
    get(rich, { accept: asMetadata }),
    get(selected, { accept: asTable }),
    get(`${selected}&limit=1`, { accept: asMetadataList }),
    get(`${collection}?fieldSelector=metadata.name%3Dnobody`),
    get(`${collection}?fieldSelector=spec.nothing%3D1`),
    get(`${collection}/nobody`),
  ];
}

function changing({ change }: Sample, { rich, collection }: Place): readonly Step[] {
  return [
    put(rich, change, { from: 'rich', as: 'updated' }),
    put(rich, { metadata: { labels: { late: 'true' } } }, { from: 'rich' }),
    put(rich, {}, { from: 'updated', form: 'metadata' }),
    put(
      rich,
      { metadata: { resourceVersion: null, labels: { again: 'x' } } },
      { from: 'updated', form: 'metadata' },
    ),
    put(rich, { metadata: { uid: '00000000-0000-0000-0000-000000000000' } }, { from: 'updated' }),
    put(rich, { metadata: { name: 'other' } }, { from: 'updated' }),
    put(
      `${collection}/made-by-put`,
      { metadata: { name: 'made-by-put', uid: null, resourceVersion: null } },
      {
        from: 'rich',
        form: 'metadata',
      },
    ),
  ];
}

function patching({ rich }: Place): readonly Step[] {
  const annotate = [{ op: 'add', path: '/metadata/annotations/by-json', value: 'yes' }];
  return [
    patch('merge', rich, { metadata: { labels: { 'by-merge': 'yes', again: null } } }, { form: 'metadata' }),
    patch('json', rich, annotate, { form: 'metadata' }),
    patch('strategic', rich, { metadata: { labels: { 'by-strategic': 'yes' } } }, { form: 'metadata' }),
    patch('json', rich, [{ op: 'test', path: '/metadata/name', value: 'other' }]),
    patch('merge', `${rich}-not`, { metadata: { labels: { a: 'b' } } }),
  ];
}

function changingStatus({ rich }: Place, status: object): readonly Step[] {
  return [
    get(`${rich}/status`, { as: 'before', form: 'metadata' }),
    put(`${rich}/status`, { ...status, metadata: { labels: { 'by-status': 'yes' } } }, { from: 'before' }),
    patch(
      'merge',
      `${rich}/status`,
      { ...status, metadata: { annotations: { 'by-status': 'yes' } } },
      { form: 'metadata' },
    ),
    get(rich, { accept: asTable }),
  ];
}

function ending({ plural }: Sample, { collection, minimal, rich }: Place): readonly Step[] {
  const all = `${collection}?labelSelector=fidelity%3Dyes`;
  return [
    get(rich),
    del(`${rich}?dryRun=All`, undefined, { form: 'metadata' }),
    del(rich, { propagationPolicy: 'Background' }),
    get(rich),
    del(`${minimal}?gracePeriodSeconds=0`, {
      preconditions: { uid: '00000000-0000-0000-0000-000000000000' },
    }),
    ...(plural === 'namespaces' ? [] : [del(all, undefined, { form: 'metadata' })]),
    get(all, { accept: asMetadataList }),
  ];
}

import type { ConsoleRows, RowType } from '../wire/rows.ts';

/** What a viewer may list, by the plural name of the resource. */
export interface Rights {
  /** Equal for viewers who see the same; what is made for one may be sent to the other. */
  readonly key: string;
  /** May list everything that the console shows. */
  readonly isFull: boolean;
  /** Resources that may be listed in all namespaces, or that have none. */
  readonly everywhere: ReadonlySet<string>;
  /** Resources that may be listed in single namespaces. */
  readonly byNamespace: ReadonlyMap<string, ReadonlySet<string>>;
}

/** The permissions of a viewer who may list everything. */
export const fullRights: Rights = {
  key: 'everything',
  isFull: true,
  everywhere: new Set(),
  byNamespace: new Map(),
};

export function mayList(rights: Rights, plural: string, namespace = ''): boolean {
  if (rights.isFull || rights.everywhere.has(plural)) return true;
  return namespace !== '' && rights.byNamespace.get(namespace)?.has(plural) === true;
}

/** The namespaces in which the viewer may list the resource; undefined for all. */
export function namespacesOf(rights: Rights, plural: string): readonly string[] | undefined {
  if (mayList(rights, plural)) return undefined;
  return [...rights.byNamespace]
    .flatMap(([namespace, plurals]) => (plurals.has(plural) ? [namespace] : []))
    .sort();
}

export function maySee<T extends RowType>(rights: Rights, type: T, row: ConsoleRows[T]): boolean {
  return rights.isFull || seen[type](rights, row);
}

/** The row without what comes from objects that the viewer may not list. */
export function withoutHidden<T extends RowType>(
  rights: Rights,
  type: T,
  row: ConsoleRows[T],
): ConsoleRows[T] {
  if (rights.isFull) return row;
  // Safe: the type says which row it is.
  switch (type) {
    case 'volume':
      return withoutClaim(rights, row as ConsoleRows['volume']) as ConsoleRows[T];
    case 'node':
      return withoutRequests(rights, row as ConsoleRows['node']) as ConsoleRows[T];
    case 'pool':
      return withoutPromises(rights, row as ConsoleRows['pool']) as ConsoleRows[T];
    default:
      return row;
  }
}

function withoutClaim(rights: Rights, row: ConsoleRows['volume']): ConsoleRows['volume'] {
  const [namespace = ''] = row.claim.split('/');
  const isSeen = row.claim === '' || mayList(rights, 'persistentvolumeclaims', namespace);
  return isSeen ? row : { ...row, claim: '' };
}

/** Removes the requests on a node, which are sums over the pods of all namespaces. */
function withoutRequests(rights: Rights, row: ConsoleRows['node']): ConsoleRows['node'] {
  if (mayList(rights, 'pods')) return row;
  const { cpu, memory, pods } = row;
  return { ...row, cpu: [null, cpu[1]], memory: [null, memory[1]], pods: [null, pods[1]] };
}

/** Removes promises, which are for claims and pods, and the used bytes of a published pool, which are a sum of PersistentVolumes. */
function withoutPromises(rights: Rights, row: ConsoleRows['pool']): ConsoleRows['pool'] {
  const seesPromises = mayList(rights, 'persistentvolumeclaims') && mayList(rights, 'pods');
  const seesUsed = row.source === 'Drive' || mayList(rights, 'persistentvolumes');
  if (seesPromises && seesUsed) return row;
  const { freeBytes, promisedBytes } = row;
  return {
    ...row,
    ...(!seesPromises && { promisedBytes: 0, freeBytes: freeBytes + promisedBytes }),
    ...(!seesUsed && { usedBytes: null, totalBytes: null }),
  };
}

const seen: { readonly [T in RowType]: (rights: Rights, row: ConsoleRows[T]) => boolean } = {
  node: (rights) => mayList(rights, 'nodes'),
  volume: (rights) => mayList(rights, 'persistentvolumes'),
  disk: (rights) => mayList(rights, 'storagenodes') && mayList(rights, 'diskschedules'),
  claim: (rights, { namespace }) => mayList(rights, 'persistentvolumeclaims', namespace),
  pod: (rights, { namespace }) => mayList(rights, 'pods', namespace),
  pool: (rights, { source, namespace }) => mayList(rights, pluralOfPool[source], namespace),
};

const pluralOfPool: Readonly<Record<ConsoleRows['pool']['source'], string>> = {
  CSIStorageCapacity: 'csistoragecapacities',
  DriverCapacity: 'drivercapacities',
  Drive: 'drives',
};

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

/** The rights of a viewer who may list everything. */
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

/** A volume names its claim, which may be in a namespace that the viewer may not see. */
export function withoutHidden<T extends RowType>(
  rights: Rights,
  type: T,
  row: ConsoleRows[T],
): ConsoleRows[T] {
  if (rights.isFull || type !== 'volume') return row;
  const volume = row as ConsoleRows['volume'];
  const [namespace = ''] = volume.claim.split('/');
  if (volume.claim === '' || mayList(rights, 'persistentvolumeclaims', namespace)) return row;
  return { ...volume, claim: '' } as ConsoleRows[T];
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

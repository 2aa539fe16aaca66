import type { CSIDriver, StorageClass } from '../../../kube/api/storage.ts';
import { noProvisioner } from '../../../kube/well-known.ts';
import { listOf, textOf } from '../../../kube/wire.ts';
import { type Check, type Found, objectOf } from '../check.ts';
import { type ClusterFacts, factItems, factValue } from '../facts.ts';

export const driverChecks: readonly Check[] = [
  { subject: 'CSI drivers without capacity', needs: ['drivers', 'classes'], find: capacityFindings },
  {
    subject: 'CSI drivers on no node',
    needs: ['drivers', 'classes', 'csiNodes'],
    find: registrationFindings,
  },
  { subject: 'classes that bind immediately', needs: ['classes', 'csiNodes'], find: bindingFindings },
];

function usedDrivers({ lists }: ClusterFacts): readonly CSIDriver[] {
  const used = new Set(factValue(lists.classes).map(({ provisioner }) => textOf(provisioner)));
  return factValue(lists.drivers).filter(({ metadata }) => used.has(textOf(metadata?.name)));
}

/** Only where volumes are made for a node: a driver whose volumes every node reaches needs no capacity by node. */
function capacityFindings(facts: ClusterFacts): readonly Found[] {
  const pooled = new Set(
    factItems(facts.lists.driverCapacities).map(
      ({ spec, metadata }) => textOf(spec?.driver) || textOf(metadata?.name),
    ),
  );
  const limited = driversWithTopology(facts);
  const isAnyKnown = factItems(facts.lists.csiNodes).length > 0;
  return usedDrivers(facts)
    .filter(({ metadata, spec }) => {
      const name = textOf(metadata?.name);
      return spec?.storageCapacity !== true && !pooled.has(name) && (!isAnyKnown || limited.has(name));
    })
    .map((driver) => ({
      code: 'DriverWithoutCapacity',
      object: objectOf('CSIDriver', driver),
      detail: 'spec.storageCapacity is not true, and it has no DriverCapacity',
    }));
}

/** The driver of disks has no data path yet, and so no node plugin. */
const withoutNodePlugin: ReadonlySet<string> = new Set(['disks.stowage.dev']);

function registrationFindings(facts: ClusterFacts): readonly Found[] {
  // Its nodes are simulated, and mount nothing.
  if (facts.server.isEmbedded) return [];
  const registered = new Set(
    factValue(facts.lists.csiNodes).flatMap(({ spec }) =>
      listOf(spec?.drivers).map(({ name }) => textOf(name)),
    ),
  );
  return usedDrivers(facts)
    .filter(({ metadata }) => {
      const name = textOf(metadata?.name);
      return !registered.has(name) && !withoutNodePlugin.has(name);
    })
    .map((driver) => ({
      code: 'DriverNotRegistered',
      object: objectOf('CSIDriver', driver),
      detail: 'a StorageClass uses it, and no CSINode has it',
    }));
}

function driversWithTopology({ lists }: ClusterFacts): ReadonlySet<string> {
  const drivers = factItems(lists.csiNodes).flatMap(({ spec }) => listOf(spec?.drivers));
  return new Set(
    drivers.filter(({ topologyKeys }) => listOf(topologyKeys).length > 0).map(({ name }) => textOf(name)),
  );
}

function bindingFindings(facts: ClusterFacts): readonly Found[] {
  const limited = driversWithTopology(facts);
  const pending = pendingByClass(facts);
  return factValue(facts.lists.classes)
    .filter(({ volumeBindingMode }) => volumeBindingMode !== 'WaitForFirstConsumer')
    .flatMap((one) => {
      const why = limitOf(one, limited);
      if (why === undefined) return [];
      const count = pending.get(textOf(one.metadata?.name)) ?? 0;
      const claims = count === 0 ? '' : `; ${count} of its claims ${count === 1 ? 'is' : 'are'} pending`;
      const detail = `volumeBindingMode is Immediate, and ${why}${claims}`;
      return [{ code: 'ClassBindsImmediately', object: objectOf('StorageClass', one), detail } as const];
    });
}

function limitOf(
  { provisioner, allowedTopologies }: StorageClass,
  limited: ReadonlySet<string>,
): string | undefined {
  const name = textOf(provisioner);
  if (name === '' || name === noProvisioner) return 'its volumes are made by hand, mostly local ones';
  if (limited.has(name)) return `volumes of ${name} can be reached only from some nodes`;
  return listOf(allowedTopologies).length > 0 ? 'it has allowedTopologies' : undefined;
}

function pendingByClass({ lists }: ClusterFacts): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { spec } of factItems(lists.claims)) {
    const name = textOf(spec?.storageClassName);
    if (textOf(spec?.volumeName) === '') counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return counts;
}

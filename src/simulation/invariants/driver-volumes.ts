import { persistentVolumeClaims, persistentVolumes } from '../../kube/resources.ts';
import { driverName, sizeOf } from '../simulated-driver.ts';
import type { Invariant } from './invariant.ts';

export const driverKeepsVolumesInUse: Invariant = {
  name: 'the driver is never asked to delete a volume that a claim is bound to',
  atRest: (_, { deletedInUse }) => deletedInUse.map((name) => `volume ${name} was deleted`),
};

export const volumesHaveTheirSize: Invariant = {
  name: 'when the system is at rest, a PersistentVolume has the size of its volume',
  atRest: (state, { driverVolumes }) =>
    [...state.values(persistentVolumes)].flatMap(({ metadata, spec }) => {
      const actual = driverVolumes.get(metadata?.name ?? '')?.bytes;
      const stored = sizeOf(String(spec?.capacity?.storage ?? '0'));
      if (actual === undefined || actual === stored) return [];
      return [`volume ${metadata?.name} has ${actual} bytes, and its PersistentVolume ${stored}`];
    }),
};

/** Every volume of the driver has a PersistentVolume, or a claim for which it is being created. */
export const driverLeaksNothing: Invariant = {
  name: 'no volume of the driver is leaked or lost',
  atRest: (state, { driverVolumes }) => {
    const claims = new Set([...state.values(persistentVolumeClaims)].map((claim) => claim.metadata?.uid));
    const leaked = [...driverVolumes.keys()].filter(
      (name) => state.get(persistentVolumes, name) === undefined && !claims.has(name.replace(/^pvc-/, '')),
    );
    const lost = [...state.values(persistentVolumes)].filter(
      ({ metadata, spec }) => spec?.csi?.driver === driverName && !driverVolumes.has(metadata?.name ?? ''),
    );
    return [
      ...leaked.map((name) => `volume ${name} exists, and neither a PersistentVolume nor its claim does`),
      ...lost.map(({ metadata }) => `PersistentVolume ${metadata?.name} exists, and its volume does not`),
    ];
  },
};

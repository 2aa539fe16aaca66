import fc from 'fast-check';

/**
 * What a random cluster is mostly about. With all odds even, nearly every pod would be refused for its first bad object, and
 * the interesting competitions would hardly ever happen.
 */
export interface Distribution {
  /** Sizes of volumes, claims and pools. */
  readonly sizes: fc.Arbitrary<string>;
  /** Classes of claims; volumes have one of these or another. */
  readonly classes: fc.Arbitrary<string>;
  /** Chances out of a hundred. */
  readonly boundClaims: number;
  readonly pinnedClaims: number;
  readonly invalidClaims: number;
  readonly affineVolumes: number;
  readonly oddVolumes: number;
  readonly volumes: number;
  readonly attachLimits: number;
  readonly trackingDrivers: number;
  readonly pools: number;
  /** Pools that every node reaches, and pools that share their disks with others. */
  readonly openPools: number;
  readonly sharedDisks: number;
}

const plainSizes = fc.constantFrom('1Gi', '2Gi', '2Gi', '2048Mi', '3Gi', '4Gi', '5Gi', '10Gi');
const strangeSizes = fc.oneof(
  { weight: 20, arbitrary: plainSizes },
  { weight: 2, arbitrary: fc.constantFrom('800E', '7E', '9007199254740992', '9007199254740993') },
  { weight: 1, arbitrary: fc.constantFrom('0', '1', '1500m', '1600m', '0.5Gi', '1e9') },
);

/** A little of everything, and much that is wrong. */
export const mixed: Distribution = {
  sizes: strangeSizes,
  classes: fc.constantFrom('static', 'static', 'dyn', 'dyn', 'dyn2', 'ebs'),
  boundClaims: 15,
  pinnedClaims: 12,
  invalidClaims: 3,
  affineVolumes: 70,
  oddVolumes: 12,
  volumes: 50,
  attachLimits: 50,
  trackingDrivers: 80,
  pools: 45,
  openPools: 20,
  sharedDisks: 20,
};

/** Claims that compete for existing volumes. */
export const scarceVolumes: Distribution = {
  ...mixed,
  classes: fc.constantFrom('static', 'static', 'static', 'dyn'),
  boundClaims: 3,
  pinnedClaims: 2,
  invalidClaims: 0,
  affineVolumes: 35,
  oddVolumes: 3,
  volumes: 75,
  trackingDrivers: 30,
};

/** Claims that compete for room in pools. */
export const scarcePools: Distribution = {
  ...mixed,
  sizes: fc.oneof({ weight: 30, arbitrary: plainSizes }, { weight: 1, arbitrary: strangeSizes }),
  classes: fc.constantFrom('dyn', 'dyn', 'dyn2'),
  boundClaims: 3,
  pinnedClaims: 8,
  invalidClaims: 0,
  oddVolumes: 3,
  volumes: 10,
  attachLimits: 10,
  trackingDrivers: 95,
  pools: 65,
  openPools: 70,
  sharedDisks: 50,
};

export const distributions: readonly Distribution[] = [mixed, scarceVolumes, scarcePools];

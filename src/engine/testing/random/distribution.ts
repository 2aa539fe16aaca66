import fc from 'fast-check';

/**
 * The probabilities for a random cluster. With equal probabilities nearly every pod would be refused because of its first invalid object,
 * and pods would hardly ever compete.
 */
export interface Distribution {
  /** Sizes of volumes, claims and pools. */
  readonly sizes: fc.Arbitrary<string>;
  /** Classes of claims. Volumes mostly have one of these. */
  readonly classes: fc.Arbitrary<string>;
  /** These are probabilities in percent. */
  readonly boundClaims: number;
  readonly pinnedClaims: number;
  readonly invalidClaims: number;
  readonly affineVolumes: number;
  readonly oddVolumes: number;
  readonly volumes: number;
  readonly attachLimits: number;
  readonly trackingDrivers: number;
  readonly pools: number;
  /** The probability of pools that every node reaches, and of pools that share their disks with others. */
  readonly openPools: number;
  readonly sharedDisks: number;
}

const commonSizes = fc.constantFrom('1Gi', '2Gi', '2Gi', '2048Mi', '3Gi', '4Gi', '5Gi', '10Gi');
const unusualSizes = fc.oneof(
  { weight: 20, arbitrary: commonSizes },
  { weight: 2, arbitrary: fc.constantFrom('800E', '7E', '9007199254740992', '9007199254740993') },
  { weight: 1, arbitrary: fc.constantFrom('0', '1', '1500m', '1600m', '0.5Gi', '1e9') },
);

/** Some of everything, with many invalid objects. */
export const mixed: Distribution = {
  sizes: unusualSizes,
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

/** Claims that compete for capacity of pools. */
export const scarcePools: Distribution = {
  ...mixed,
  sizes: fc.oneof({ weight: 30, arbitrary: commonSizes }, { weight: 1, arbitrary: unusualSizes }),
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

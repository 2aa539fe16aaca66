import type { Profile } from '../../engine/cluster-index/profile.ts';
import { usage } from '../errors/cli-error.ts';

/** The feature gates and their defaults. */
const defaults = { VolumeScheduling: true, CSIStorageCapacity: true };

export type FeatureGates = Readonly<Record<keyof typeof defaults, boolean>>;
type GivenGates = { readonly [Name in keyof FeatureGates]?: boolean | undefined };

/** Reads `VolumeScheduling=false,…`, as the components of Kubernetes take it; `given` are the gates that the configuration file sets. */
export function featureGatesOf(
  text: string,
  {
    VolumeScheduling = defaults.VolumeScheduling,
    CSIStorageCapacity = defaults.CSIStorageCapacity,
  }: GivenGates = {},
): FeatureGates {
  const gates: Record<string, boolean> = { ...defaults, VolumeScheduling, CSIStorageCapacity };
  for (const pair of text.split(',').filter((part) => part.trim() !== '')) {
    const [name = '', value = ''] = pair.split('=').map((part) => part.trim());
    if (!Object.hasOwn(defaults, name)) {
      throw usage(`--feature-gates: there is no gate "${name}"; use ${Object.keys(defaults).join(', ')}`);
    }
    if (value !== 'true' && value !== 'false') {
      throw usage(`--feature-gates: ${name} is "${value}"; write ${name}=true or ${name}=false`);
    }
    gates[name] = value === 'true';
  }
  return gates as FeatureGates;
}

/** Without the gate CSIStorageCapacity, a scheduler reads no published capacity: a volume of any size fits everywhere. */
export function gatedProfile(profile: Profile, { CSIStorageCapacity }: FeatureGates): Profile {
  return CSIStorageCapacity ? profile : { ...profile, poolForms: [] };
}

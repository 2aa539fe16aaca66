import { selectControllers } from '../../controllers/controller-names.ts';
import { diskAgentName } from '../../controllers/disk-agent/disk-agent-controller.ts';
import type { RunControllersOptions } from '../../controllers/run-controllers.ts';
import type { Profile } from '../../engine/cluster-index/profile.ts';
import { usage } from '../errors/cli-error.ts';
import { podEnvironment } from '../flags/capacity-flags.ts';
import { type CsiFlags, csiSettingsOf } from '../flags/csi-flags.ts';
import { featureGatesOf, gatedProfile } from '../flags/feature-gates.ts';
import { type Configuration, readConfiguration } from './configuration.ts';
import { csiFlagsWith } from './csi-field.ts';
import { type DiskAgentFlags, diskAgentSettingsOf } from './disk-agent-flags.ts';
import { type BaseProfile, baseProfiles, profileOf } from './profile-field.ts';

/** The flags as given. A missing flag takes its value from the file, or else from the defaults below. */
export interface SettingFlags extends CsiFlags, DiskAgentFlags {
  readonly config?: string;
  readonly controllers?: string;
  /** True if the flag has no value. */
  readonly leaderElect?: boolean | string;
  readonly leaseSuffix?: string;
  readonly featureGates?: string;
  /** One value for each use of the flag. */
  readonly schedulerName?: readonly string[];
  readonly profile?: string;
  readonly allocationOnly?: boolean;
  readonly httpAddress?: string;
  /** Serves the console; the process may then run no controller. */
  readonly console?: boolean;
}

export type RunSettings = Pick<
  RunControllersOptions,
  | 'names'
  | 'csi'
  | 'diskAgent'
  | 'volumeScheduling'
  | 'bindTimeoutMs'
  | 'backOff'
  | 'allocationOnly'
  | 'leaseSuffix'
> & {
  readonly leaderElection: boolean;
  readonly schedulerNames: readonly string[];
  readonly profile: Profile;
  readonly httpAddress: string | undefined;
};

/** Kubernetes runs all others; schedulers are distinguished by name. */
const controllersDefault = ['scheduler'];
const schedulerNamesDefault = ['stowage'];
/** The default of kube-scheduler. */
const backOffDefault = { initialSeconds: 1, maxSeconds: 10 };

/** Flags override the file, and the file overrides the defaults. */
export async function runSettings(flags: SettingFlags): Promise<RunSettings> {
  const file = flags.config === undefined ? {} : await readConfiguration(flags.config);
  const { featureGates = '', httpAddress = file.httpAddress } = flags;
  const gates = featureGatesOf(featureGates, file.featureGates);
  const names = namesOf(flags, file);
  const csiFlags = csiFlagsWith(flags, file.csi);
  const leaderElection = isElected({ ...flags, ...csiFlags }, file);
  return {
    names,
    csi: csiSettingsOf(withoutAgentNode(csiFlags, names), { pod: podEnvironment(), controllers: names }),
    diskAgent: diskAgentSettingsOf(flags, { controllers: names }),
    volumeScheduling: gates.VolumeScheduling,
    bindTimeoutMs: file.bindTimeoutSeconds === undefined ? undefined : file.bindTimeoutSeconds * 1000,
    backOff: backOffOf(flags, file),
    allocationOnly: allocationOnlyOf(flags, names),
    leaderElection,
    leaseSuffix: leaseSuffixOf(flags, file, leaderElection),
    schedulerNames: schedulerNamesOf(flags, file),
    profile: gatedProfile(profileOf({ ...file.profile, ...baseOf(flags) }), gates),
    httpAddress,
  };
}

function namesOf(flags: SettingFlags, file: Configuration): readonly string[] {
  const { controllers = controllersDefault } = file;
  const where = flags.controllers === undefined ? `${flags.config}: controllers` : '--controllers';
  const selected = selectControllers(flags.controllers ?? (controllers.join(',') || 'none'));
  if (!selected.ok) throw usage(`${where}: ${selected.problem}`);
  const names = selected.names.filter((name) => name !== diskAgentName || isNamed(flags, controllers));
  if (names.length === 0 && flags.console !== true)
    throw usage(`${where}: would run nothing; name at least one, such as scheduler, or add --console`);
  return names;
}

/** An agent keeps files on the machine that it runs on, so * does not mean it. */
function isNamed(flags: SettingFlags, controllers: readonly string[]): boolean {
  const entries = flags.controllers === undefined ? controllers : flags.controllers.split(',');
  return entries.some((entry) => entry.trim() === diskAgentName);
}

/** The name of the node is for CSI drivers with --node-deployment, and for the disk agent. */
function withoutAgentNode(flags: CsiFlags, names: readonly string[]): CsiFlags {
  if (flags.nodeDeployment === true || !names.includes(diskAgentName)) return flags;
  const { nodeName: _nodeName, ...rest } = flags;
  return rest;
}

/** Only the provisioner reads it: elsewhere it would look as if it had an effect. */
function allocationOnlyOf(
  { allocationOnly }: SettingFlags,
  names: readonly string[],
): RunSettings['allocationOnly'] {
  if (allocationOnly === true && !names.includes('provisioner'))
    throw usage(
      '--allocation-only: has a meaning only with the controller provisioner; name it in --controllers',
    );
  return allocationOnly;
}

function schedulerNamesOf(flags: SettingFlags, file: Configuration): readonly string[] {
  const names = flags.schedulerName ?? file.schedulerNames ?? schedulerNamesDefault;
  if (names.includes('')) throw usage('--scheduler-name: give a name, such as stowage');
  if (names.length === 0)
    throw usage(`${flags.config}: schedulerNames: must not be empty; name at least one, such as stowage`);
  return names;
}

function backOffOf({ config }: SettingFlags, { backOff }: Configuration): RunSettings['backOff'] {
  if (backOff === undefined) return undefined;
  const { initialSeconds = backOffDefault.initialSeconds } = backOff;
  const { maxSeconds = Math.max(backOffDefault.maxSeconds, initialSeconds) } = backOff;
  if (maxSeconds === 0 || maxSeconds >= initialSeconds)
    return { initialMs: initialSeconds * 1000, maxMs: maxSeconds * 1000 };
  throw usage(
    `${config}: backOff.maxSeconds: is less than initialSeconds; give as much, or 0 for no back-off`,
  );
}

/** A process for one node does not compete with those of other nodes. */
function isElected(
  { leaderElect, nodeDeployment = false }: SettingFlags,
  { leaderElection }: Configuration,
): boolean {
  if (nodeDeployment) {
    if (leaderElect === undefined || leaderElect === 'false') return false;
    throw usage('--leader-elect: has no meaning with --node-deployment, where every node has its process');
  }
  if (leaderElect === undefined) return leaderElection?.leaderElect ?? true;
  if (typeof leaderElect === 'boolean') return leaderElect;
  if (leaderElect === 'true' || leaderElect === 'false') return leaderElect === 'true';
  throw usage(`--leader-elect: "${leaderElect}" must be true or false`);
}

/** The rest of a name: as a label, so that every Lease has a valid name. */
function leaseSuffixOf(
  flags: SettingFlags,
  file: Configuration,
  isElection: boolean,
): RunSettings['leaseSuffix'] {
  const suffix = flags.leaseSuffix ?? file.leaderElection?.leaseSuffix;
  if (suffix === undefined) return undefined;
  const where =
    flags.leaseSuffix === undefined ? `${flags.config}: leaderElection.leaseSuffix` : '--lease-suffix';
  if (!/^[a-z0-9]([a-z0-9.-]{0,98}[a-z0-9])?$/.test(suffix))
    throw usage(
      `${where}: "${suffix}" must be lower case letters, digits, "-" and ".", such as the name of a driver`,
    );
  if (isElection) return suffix;
  throw usage(`${where}: has no meaning without leader election; leave it out`);
}

function baseOf({ profile }: SettingFlags): { readonly base?: BaseProfile } {
  if (profile === undefined) return {};
  const base = baseProfiles.find((each) => each === profile);
  if (base === undefined) throw usage(`--profile: "${profile}" must be one of ${baseProfiles.join(', ')}`);
  return { base };
}

import { readFileSync } from 'node:fs';
import {
  type CapacityForm,
  type CapacitySettings,
  capacityForms,
} from '../../controllers/capacity-settings.ts';
import { parseGoDuration } from '../../kube/go/duration.ts';
import { usage } from '../errors/cli-error.ts';

/** The flags of `up` and `run` for the published capacity of CSI drivers, as given. */
export interface CapacityPublishingFlags {
  readonly capacityForm?: string;
  readonly capacityPollInterval?: string;
  readonly capacityForEphemeral?: boolean;
  readonly capacityForImmediateBinding?: boolean;
  readonly capacityTopologyPrefix?: string;
  readonly capacityOwnerrefLevel?: string;
  readonly capacityThreads?: string;
}

/** The pod that this process runs in, as far as it is known. */
export interface PodEnvironment {
  readonly podName?: string | undefined;
  readonly namespace?: string | undefined;
}

/** A shorter interval would keep the drivers busy. */
const pollIntervalMinMs = 1000;
const ownerLevelDefault = 1;
const namespaceFile = '/var/run/secrets/kubernetes.io/serviceaccount/namespace';

/** Only what differs from the defaults. `pod` is empty where the cluster is not the one that the process runs in. */
export function capacitySettingsOf(
  flags: CapacityPublishingFlags,
  pod: PodEnvironment,
): Partial<CapacitySettings> {
  const { capacityForm, capacityPollInterval, capacityTopologyPrefix, capacityThreads } = flags;
  const { namespace } = pod;
  const owner = ownerOf(flags, pod);
  return {
    ...(capacityForm === undefined ? {} : { form: formOf(capacityForm) }),
    ...(capacityPollInterval === undefined ? {} : { pollIntervalMs: intervalOf(capacityPollInterval) }),
    ...(flags.capacityForEphemeral === true ? { forEphemeral: true } : {}),
    ...(flags.capacityForImmediateBinding === true ? { forImmediateBinding: true } : {}),
    ...(capacityTopologyPrefix === undefined ? {} : { topologyPrefix: capacityTopologyPrefix }),
    ...(capacityThreads === undefined ? {} : { threads: threadsOf(capacityThreads) }),
    ...(namespace === undefined ? {} : { namespace }),
    ...(owner === undefined ? {} : { owner }),
  };
}

/** As external-provisioner reads it: `NAMESPACE` (or `POD_NAMESPACE`) and `POD_NAME`, set from the pod's own fields. */
export function podEnvironment(
  environment: Readonly<Record<string, string | undefined>> = process.env,
): PodEnvironment {
  const { NAMESPACE, POD_NAMESPACE, POD_NAME } = environment;
  const namespace = NAMESPACE || POD_NAMESPACE || serviceAccountNamespace();
  return { ...(POD_NAME ? { podName: POD_NAME } : {}), ...(namespace ? { namespace } : {}) };
}

function serviceAccountNamespace(): string | undefined {
  try {
    return readFileSync(namespaceFile, 'utf8').trim();
  } catch {
    // Not in a pod, or in one without a token.
    return undefined;
  }
}

function formOf(text: string): CapacityForm {
  const form = capacityForms.find((one) => one === text);
  if (form !== undefined) return form;
  throw usage(`--capacity-form: "${text}" must be one of ${capacityForms.join(', ')}`);
}

function intervalOf(text: string): number {
  const nanos = /^\d+$/.test(text) ? BigInt(text) * 1_000_000_000n : parseGoDuration(text);
  const ms = nanos === undefined ? Number.NaN : Number(nanos / 1_000_000n);
  if (ms >= pollIntervalMinMs) return ms;
  throw usage(`--capacity-poll-interval: "${text}" must be a time of at least a second, such as 1m or 30s`);
}

function threadsOf(text: string): number {
  const threads = Number(text);
  if (/^\d+$/.test(text) && threads >= 1 && threads <= threadsMax) return threads;
  throw usage(`--capacity-threads: "${text}" must be a number from 1 to ${threadsMax}`);
}

const threadsMax = 100;

/** Without a pod there is no owner; asking for one is then a mistake. */
function ownerOf(
  { capacityOwnerrefLevel }: CapacityPublishingFlags,
  { podName, namespace }: PodEnvironment,
): CapacitySettings['owner'] {
  const level = capacityOwnerrefLevel === undefined ? ownerLevelDefault : Number(capacityOwnerrefLevel);
  if (!Number.isInteger(level) || level < -1 || level > 10)
    throw usage(`--capacity-ownerref-level: "${capacityOwnerrefLevel}" must be a number from -1 to 10`);
  if (level < 0) return undefined;
  if (podName !== undefined && namespace !== undefined) return { podName, level };
  if (capacityOwnerrefLevel === undefined) return undefined;
  throw usage(
    '--capacity-ownerref-level: needs the variables POD_NAME and NAMESPACE of the pod; set them, or use -1',
  );
}

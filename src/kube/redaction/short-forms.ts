import { isRecord } from '../wire.ts';

type Json = Readonly<Record<string, unknown>>;

/** Only these fields of a pod, which decide where it can go and show how it is. What is not named here is left out. */
export function shortPod(pod: Json, { hasArguments = false } = {}): Json {
  const container = (one: Json): Json => ({
    ...pick(one, ['name', 'image', 'resources', 'ports', 'restartPolicy']),
    // Our own containers take no secrets by arguments.
    ...(hasArguments && { arguments: one.args }),
  });
  const spec = recordIn(pod, 'spec');
  const status = recordIn(pod, 'status');
  return {
    ...pick(pod, ['apiVersion', 'kind', 'metadata']),
    spec: {
      ...pick(spec, podFields),
      containers: recordsIn(spec, 'containers').map(container),
      ...(Array.isArray(spec.initContainers) && {
        initContainers: recordsIn(spec, 'initContainers').map(container),
      }),
      ...(Array.isArray(spec.volumes) && { volumes: recordsIn(spec, 'volumes').map(shortVolume) }),
    },
    status: {
      ...pick(status, statusFields),
      ...(Array.isArray(status.containerStatuses) && {
        containerStatuses: recordsIn(status, 'containerStatuses').map((one) => pick(one, containerFields)),
      }),
    },
  };
}

const podFields = [
  'nodeName',
  'schedulerName',
  'priority',
  'priorityClassName',
  'preemptionPolicy',
  'nodeSelector',
  'affinity',
  'tolerations',
  'topologySpreadConstraints',
  'schedulingGates',
  'overhead',
  'resources',
  'resourceClaims',
  'hostNetwork',
  'restartPolicy',
  'runtimeClassName',
  'serviceAccountName',
  'terminationGracePeriodSeconds',
];
const statusFields = [
  'phase',
  'reason',
  'message',
  'conditions',
  'nominatedNodeName',
  'startTime',
  'qosClass',
];
const containerFields = [
  'name',
  'ready',
  'restartCount',
  'state',
  'lastState',
  'imageID',
  'resources',
  'allocatedResources',
];
/** Volumes that put files of the cluster into a pod: only that there is one. */
const fileVolumes: ReadonlySet<string> = new Set(['secret', 'configMap', 'projected', 'downwardAPI']);

function shortVolume(volume: Json): Json {
  return Object.fromEntries(
    Object.entries(volume).map(([key, value]) => [key, fileVolumes.has(key) ? {} : value]),
  );
}

/** A workload without its pod template. */
export function shortWorkload(workload: Json): Json {
  const spec = recordIn(workload, 'spec');
  return {
    ...pick(workload, ['apiVersion', 'kind', 'metadata', 'status']),
    spec: pick(spec, [
      'replicas',
      'selector',
      'minAvailable',
      'maxUnavailable',
      'strategy',
      'updateStrategy',
    ]),
  };
}

/** A node without the list of its images, which is long. */
export function shortNode(node: Json): Json {
  const { images: _, ...status } = recordIn(node, 'status');
  return { ...node, status };
}

/** A definition without its schema. */
export function shortDefinition(definition: Json): Json {
  const spec = recordIn(definition, 'spec');
  return {
    ...pick(definition, ['apiVersion', 'kind', 'metadata', 'status']),
    spec: {
      ...pick(spec, ['group', 'scope', 'names']),
      versions: recordsIn(spec, 'versions').map((one) => pick(one, ['name', 'served', 'storage'])),
    },
  };
}

function pick(from: Json, keys: readonly string[]): Json {
  return Object.fromEntries(keys.filter((key) => from[key] !== undefined).map((key) => [key, from[key]]));
}

function recordIn(from: Json, key: string): Json {
  const value = from[key];
  return isRecord(value) ? value : {};
}

function recordsIn(from: Json, key: string): readonly Json[] {
  const value = from[key];
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

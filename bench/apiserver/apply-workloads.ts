import type { Connection } from './connection.ts';

type Job = (connection: Connection, index: number) => Promise<void>;

/** The field managers, one after another: each applies its own fields, and the first one applies again with a change. */
const managers = ['deployer', 'operator', 'tuner'];

/** An object as a manager applies it in a round. */
type Config = (name: string, manager: string, round: number) => object;

/**
 * Repeated server-side applies to this many objects: the first round creates them, and the managers take turns in the following rounds.
 * Every apply changes something, so every one is stored.
 */
export function applyInRounds(path: string, objects: number, config: Config): Job {
  return async (connection, index) => {
    const round = Math.floor(index / objects);
    const name = `object-${index % objects}`;
    const manager = managers[round % managers.length] as string;
    const body = JSON.stringify(config(name, manager, round));
    const target = `${path}/${name}?fieldManager=${manager}&force=true`;
    const { status, body: text } = await connection.request('PATCH', target, body, applyType);
    if (status !== (round === 0 ? 201 : 200)) {
      throw new Error(`an apply failed with status ${status}: ${text.toString().slice(0, 500)}`);
    }
  };
}

const applyType = 'application/apply-patch+yaml';

export const configMapsPath = '/api/v1/namespaces/default/configmaps';

/** Ten keys per manager, one of them new in every round. */
export function configMap(name: string, manager: string, round: number): object {
  const keys = Array.from({ length: 10 }, (_, i) => [`${manager}-${i}`, `value-${i}`]);
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, labels: { [manager]: 'yes' } },
    data: { ...Object.fromEntries(keys), [`${manager}-0`]: `round-${round}` },
  };
}

export const deploymentsPath = '/apis/apps/v1/namespaces/default/deployments';

/** A typical pod template, to which other managers add labels, annotations and environment variables. */
export function deployment(name: string, manager: string, round: number): object {
  const isFirst = manager === managers[0];
  const metadata = {
    name,
    labels: { [manager]: 'yes' },
    annotations: { [`${manager}.io/round`]: `${round}` },
  };
  const container = isFirst ? wholeContainer(round) : { name: 'app', env: [environment(manager, round)] };
  const template = {
    metadata: { labels: isFirst ? { app: 'app' } : { [manager]: 'yes' } },
    spec: { ...(isFirst ? podParts : {}), containers: [container] },
  };
  const spec = isFirst ? { replicas: 3, selector: { matchLabels: { app: 'app' } }, template } : { template };
  return { apiVersion: 'apps/v1', kind: 'Deployment', metadata, spec };
}

function environment(manager: string, round: number): object {
  return { name: manager.toUpperCase(), value: `${round}` };
}

function wholeContainer(round: number): object {
  return {
    name: 'app',
    image: `registry.example.com/app:${round}`,
    ports: [{ name: 'http', containerPort: 8080, protocol: 'TCP' }],
    env: [environment('deployer', round), { name: 'LEVEL', value: 'info' }],
    resources: { requests: { cpu: '100m', memory: '128Mi' }, limits: { memory: '256Mi' } },
    readinessProbe: { httpGet: { path: '/ready', port: 'http' }, periodSeconds: 5 },
    livenessProbe: { httpGet: { path: '/live', port: 'http' }, periodSeconds: 10 },
    securityContext: { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true },
    volumeMounts: [
      { name: 'data', mountPath: '/data' },
      { name: 'config', mountPath: '/etc/app', readOnly: true },
    ],
  };
}

const podParts = {
  serviceAccountName: 'app',
  terminationGracePeriodSeconds: 30,
  tolerations: [{ key: 'spot', operator: 'Exists', effect: 'NoSchedule' }],
  volumes: [
    { name: 'data', emptyDir: {} },
    { name: 'config', configMap: { name: 'app' } },
  ],
};

import { type Draw, mapWith, object, one, orNothing, several, some } from './random-values.ts';

const env = several(
  object({ value: one('1', '2') }, { name: one('A') }),
  object({ value: one('1', '2') }, { name: one('B') }),
  object({}, { name: one('C'), valueFrom: one({ fieldRef: { fieldPath: 'metadata.name' } }) }),
);

const quantities = orNothing(
  object({ cpu: one('1', '1000m', 2, '0.5'), memory: one('1Gi', '1024Mi', '64Mi') }),
  {},
);

/** Quantities of nodes, for which an empty map differs from an absent one. */
export const amounts = one({ cpu: '1' }, { cpu: '1000m', memory: '1Gi' }, { memory: '64Mi' });

export function container(name: string): Draw {
  return object(
    {
      env,
      ports: orNothing(
        some(
          object({ name: one('web'), protocol: one('TCP') }, { containerPort: one(80) }),
          object({ hostPort: one(81) }, { containerPort: one(81) }),
          object({}, { containerPort: one(80), protocol: one('UDP') }),
        ),
        [],
      ),
      command: one(['a'], ['a', 'b'], []),
      resources: orNothing(object({ limits: quantities, requests: quantities }), {}),
      volumeMounts: some(
        object({ readOnly: one(true, false) }, { name: one('v'), mountPath: one('/v') }),
        object({ subPath: one('x') }, { name: one('w'), mountPath: one('/w') }),
      ),
      imagePullPolicy: one('Always', 'IfNotPresent'),
      readinessProbe: object({
        httpGet: object({ path: one('/', '/x') }, { port: one(80, 'web') }),
        periodSeconds: one(1, 2),
      }),
      securityContext: object(
        { capabilities: one({ add: ['A'] }, { add: ['B'] }) },
        { runAsUser: one(1, 2) },
      ),
    },
    { name: one(name), image: one(`${name}:1`, `${name}:2`) },
  );
}

const volumes = orNothing(
  several(
    object({}, { name: one('v'), emptyDir: one({}, { medium: 'Memory' }) }),
    object(
      {},
      {
        name: one('w'),
        configMap: object(
          { optional: one(true), items: one([{ key: 'a', path: 'a' }]) },
          { name: one('m', 'n') },
        ),
      },
    ),
    object({}, { name: one('x'), hostPath: one({ path: '/x' }, { path: '/x', type: 'Directory' }) }),
  ),
  [],
);

export const podParts = {
  containers: several(container('one'), container('two'), container('three')),
  initContainers: some(container('first'), container('second')),
  volumes,
  nodeSelector: mapWith(['a', 'b'], one('1', '2')),
  tolerations: some(one({ key: 'a', operator: 'Exists' }), one({ key: 'b', operator: 'Exists' })),
  securityContext: object({ runAsUser: one(1, 2), fsGroup: one(3) }),
  imagePullSecrets: some(one({ name: 'p' }), one({ name: 'q' })),
  hostAliases: some(one({ ip: '1.2.3.4', hostnames: ['a'] }), one({ ip: '1.2.3.5', hostnames: ['b'] })),
  terminationGracePeriodSeconds: one(0, 5, 30, null),
  topologySpreadConstraints: some(
    object({ minDomains: one(1, 2) }, spread('zone')),
    object({ labelSelector: one({ matchLabels: { app: 'x' } }) }, spread('rack')),
  ),
  affinity: object({
    nodeAffinity: one(
      {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ matchExpressions: [{ key: 'a', operator: 'Exists' }] }],
        },
      },
      {},
    ),
  }),
};

function spread(key: string): Readonly<Record<string, Draw>> {
  return { topologyKey: one(key), maxSkew: one(1, 2), whenUnsatisfiable: one('DoNotSchedule') };
}

export const selector = { selector: one({ matchLabels: { app: 'x' } }) };
const templateLabels = object({ labels: mapWith(['l', 'm'], one('1', '2')) });

function template(containers: Draw): Draw {
  return object(
    {},
    {
      metadata: one({ labels: { app: 'x' } }),
      spec: object(podParts, {
        containers,
        volumes: one([
          { name: 'v', emptyDir: {} },
          { name: 'w', emptyDir: {} },
        ]),
      }),
    },
  );
}

export const replicas = one(0, 1, 2, 3, null);
export const wholeTemplate = template(several(container('one'), container('two')));
export const partTemplate = object({ metadata: templateLabels, spec: object(podParts) });

export const conditions = several(
  ...['Ready', 'Available'].map((type) =>
    object(
      { reason: one('A', 'B'), message: one('a', ''), lastTransitionTime: one('2020-01-01T00:00:00Z', null) },
      { type: one(type), status: one('True', 'False', 'Unknown') },
    ),
  ),
);

/** The layers of `src/controllers`, from the bottom up: shared helpers, the controllers, and what composes and runs them. */
export const controllersLayers: readonly (readonly string[])[] = [
  ['capacity-settings.ts', 'published-names.ts', 'served-node.ts', 'csi-secrets.ts', 'disk-volume-wait.ts'],
  ['csi-settings.ts'],
  [
    'scheduler',
    'volumes',
    'provisioner',
    'attacher',
    'capacity',
    'drives',
    'disks',
    'disk-agent',
    'workloads',
  ],
  ['all-controllers.ts'],
  ['controller-names.ts', 'run-controllers.ts'],
  ['testing', 'lifecycle'],
];

/** The layers of `src/controllers/volumes`. */
export const volumesLayers: readonly (readonly string[])[] = [
  ['driver-retry-delay.ts', 'attributes-class-protection.ts'],
  ['modifier'],
  ['pv-binder', 'expander', 'ephemeral', 'protection.ts', 'zonal-upgrade'],
];

/** The layers of `src/controllers/workloads`. */
export const workloadsLayers: readonly (readonly string[])[] = [
  ['pods', 'owner-lookup.ts', 'namespace-conditions.ts'],
  [
    'stateful-set',
    'deployment',
    'disruption',
    'node-agent',
    'garbage-collector.ts',
    'namespace-controller.ts',
    'service-account-controller.ts',
  ],
  ['testing'],
];

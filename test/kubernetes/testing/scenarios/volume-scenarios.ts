import type { PersistentVolumeClaimSpec } from '../../../../src/kube/api/core.ts';
import type { StringMap } from '../../../../src/kube/api/meta.ts';
import { persistentVolumeClaims, pods, storageClasses } from '../../../../src/kube/resources.ts';
import { driverClass, fakeProvisionerName, lateClass } from '../fake-provisioner.ts';
import type { UserAction, UserScenario } from '../scenario-runner.ts';
import { runVolumeBindings, runVolumeDeletions } from '../volume-lifecycle.ts';
import { all, change, create, podTemplate, remove } from './actions.ts';

const defaultMark = 'storageclass.kubernetes.io/is-default-class';

/** More than every volume of the other scenarios. */
const tooMuch = '1Ti';

/** Classes that scenarios share. */
export const sharedClasses = [
  { metadata: { name: 'disk' }, provisioner: fakeProvisionerName },
  { metadata: { name: driverClass }, provisioner: fakeProvisionerName, allowVolumeExpansion: true },
  { metadata: { name: 'growing-files' }, provisioner: fakeProvisionerName, allowVolumeExpansion: true },
  {
    metadata: { name: lateClass },
    provisioner: fakeProvisionerName,
    volumeBindingMode: 'WaitForFirstConsumer',
  },
  { metadata: { name: 'absent' }, provisioner: 'example.com/absent' },
  {
    metadata: { name: 'absent-late' },
    provisioner: 'example.com/absent',
    volumeBindingMode: 'WaitForFirstConsumer',
  },
] as const;

export const volumeScenarios: readonly UserScenario[] = [
  {
    name: 'volume-lifecycle',
    isStuck: true,
    actions: {
      bound: ({ cluster, namespace }) => runVolumeBindings(cluster, namespace),
      deleted: ({ cluster, namespace }) => runVolumeDeletions(cluster, namespace),
    },
  },
  {
    name: 'ephemeral-volumes',
    actions: {
      'a pod with an ephemeral volume': podWith('user', { ephemeral: 'late' }),
      deleted: remove(pods, 'user'),
    },
  },
  {
    name: 'ephemeral-clash',
    isStuck: true,
    actions: {
      'a claim has the name already': all(claim('user-data', 'disk'), podWith('user', { ephemeral: 'disk' })),
    },
  },
  {
    name: 'default-class',
    isStuck: true,
    actions: {
      'a claim without a class': all(claim('early', undefined, tooMuch), claim('none', '', tooMuch)),
      'a default class is created': defaultClass('first-default'),
      // The server assigns the default class from its cache, which may be late.
      'the default class is unmarked': change(storageClasses, 'first-default', {
        metadata: { annotations: { [defaultMark]: 'false' } },
      }),
      'another claim': claim('late', undefined, tooMuch),
      'another default class': defaultClass('second-default'),
      'a newer default class': defaultClass('a-third-default'),
      'a last claim': claim('latest', undefined, tooMuch),
    },
  },
  {
    name: 'expansion',
    actions: {
      bound: all(claim('fixed', 'disk'), claim('grows', driverClass), claim('files', 'growing-files')),
      expanded: all(grow('fixed', '2Gi'), grow('grows', '2Gi'), grow('files', '2Gi')),
      shrunk: all(grow('fixed', '1Mi'), grow('grows', '1Mi')),
    },
  },
  {
    name: 'external-provisioning',
    actions: {
      'bound, and waiting for a consumer': all(claim('now', 'disk'), claim('later', 'late')),
      'a consumer is created': podWith('user', { claimName: 'later' }),
      'claims in use stay': all(
        remove(pods, 'user'),
        remove(persistentVolumeClaims, 'later'),
        remove(persistentVolumeClaims, 'now'),
      ),
    },
  },
  {
    name: 'no-provisioner',
    isStuck: true,
    actions: {
      waiting: all(claim('now', 'absent'), claim('later', 'absent-late'), claim('lost', 'no-such-class')),
      'a consumer is created': podWith('user', { claimName: 'later' }),
      'claims in use stay': remove(persistentVolumeClaims, 'later'),
      'the consumer is deleted': remove(pods, 'user'),
    },
  },
  {
    name: 'unscheduled-consumer',
    isStuck: true,
    actions: {
      'a claim that waits': claim('later', 'absent-late'),
      'a consumer that fits nowhere': podWith('user', { claimName: 'later' }, { on: 'mars' }),
      'the consumer is deleted': remove(pods, 'user'),
    },
  },
];

function defaultClass(name: string): UserAction {
  const annotations = { [defaultMark]: 'true' };
  return create(storageClasses, { metadata: { name, annotations }, provisioner: fakeProvisionerName });
}

function claim(name: string, storageClassName?: string, storage?: string): UserAction {
  return create(persistentVolumeClaims, { metadata: { name }, spec: claimSpec(storageClassName, storage) });
}

function claimSpec(storageClassName?: string, storage = '1Gi'): PersistentVolumeClaimSpec {
  return {
    accessModes: ['ReadWriteOnce'],
    resources: { requests: { storage } },
    ...(storageClassName === undefined ? {} : { storageClassName }),
  };
}

function grow(name: string, storage: string): UserAction {
  return change(persistentVolumeClaims, name, { spec: { resources: { requests: { storage } } } });
}

type Source = { readonly ephemeral: string } | { readonly claimName: string };

function podWith(name: string, source: Source, nodeSelector: StringMap = {}): UserAction {
  const volume =
    'claimName' in source
      ? { persistentVolumeClaim: source }
      : {
          ephemeral: {
            volumeClaimTemplate: { metadata: { labels: { of: name } }, spec: claimSpec(source.ephemeral) },
          },
        };
  const { spec } = podTemplate(name, 'v1');
  const volumes = [{ name: 'data', ...volume }];
  return create(pods, { metadata: { name }, spec: { ...spec, nodeSelector, volumes } });
}

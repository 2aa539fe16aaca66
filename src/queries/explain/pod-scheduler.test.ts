import { describe, expect, test } from 'vitest';
import { stowageProfile, upstreamProfile } from '../../engine/cluster-index/profile.ts';
import { claim, storageClass } from '../../engine/testing/objects.ts';
import type { Lease } from '../../kube/api/coordination.ts';
import type { Event } from '../../kube/api/core.ts';
import { formatMicroTime } from '../../kube/go/timestamp.ts';
import { announcementAnnotations, leaseKeyOf } from '../../reconcile/leases/component-lease.ts';
import { schedulerAnnouncement } from '../../reconcile/leases/scheduler-announcement.ts';
import { nodeWith, podWith, viewOf } from '../testing/cluster-views.ts';
import type { ClusterView } from '../view/cluster-view.ts';
import { explainPod } from './explain-pod.ts';
import { findPodScheduler } from './pod-scheduler.ts';

const nowMs = Date.parse('2026-01-01T12:00:00Z');
const upNames = ['stowage', 'default-scheduler'];

/** The Lease of a scheduler of ours. */
function lease(
  options: Parameters<typeof schedulerAnnouncement>[0] = { schedulerNames: upNames },
  { ageMs = 0, isOn = true, controller = 'scheduler' } = {},
): Lease {
  const scheduler = controller === 'scheduler' ? schedulerAnnouncement(options) : undefined;
  const announcement = { version: '0.1.0', gates: { VolumeScheduling: isOn }, scheduler };
  return {
    metadata: { ...leaseKeyOf(controller), annotations: announcementAnnotations(announcement) },
    spec: { leaseDurationSeconds: 15, renewTime: formatMicroTime(nowMs - ageMs) },
  };
}

function schedulerEvent(component: string, more: Partial<Event> = {}): Event {
  return {
    involvedObject: { kind: 'Pod', namespace: 'default', name: 'p', uid: 'uid-p' },
    reason: 'FailedScheduling',
    reportingComponent: component,
    eventTime: '2026-01-01T11:00:00Z',
    ...more,
  };
}

function schedulerFor(name: string | undefined, view: Partial<ClusterView>, asked?: 'stowage' | 'upstream') {
  const plain = podWith('p', '1');
  const pod = { ...plain, spec: { ...plain.spec, ...(name !== undefined && { schedulerName: name }) } };
  const { profile, source } = findPodScheduler(viewOf({}, view), pod, { nowMs, profile: asked });
  return [profile.name, source];
}

describe('the profile of a pod', () => {
  test('is the one that its scheduler announces, also for default-scheduler', () => {
    expect(schedulerFor(undefined, { leases: [lease()] })).toEqual(['stowage', 'lease']);
    expect(schedulerFor('stowage', { leases: [lease({ profile: upstreamProfile })] })).toEqual([
      'upstream',
      'lease',
    ]);
    expect(schedulerFor('batch', { leases: [lease()] })).toEqual(['upstream', 'schedulerName']);
  });

  test('is by schedulerName if no scheduler has announced itself, or has ended', () => {
    expect(schedulerFor(undefined, {})).toEqual(['upstream', 'schedulerName']);
    expect(schedulerFor('stowage', {})).toEqual(['stowage', 'schedulerName']);
    const old = [lease({ schedulerNames: upNames }, { ageMs: 3_600_000 })];
    expect(schedulerFor(undefined, { leases: old })).toEqual(['upstream', 'schedulerName']);
    // The Leases in files are as old as the files.
    expect(schedulerFor(undefined, { leases: old, isFromFiles: true })).toEqual(['stowage', 'lease']);
  });

  test('is that of the component that recorded the latest event about the pod', () => {
    const ours = schedulerEvent('stowage.dev/scheduler');
    const eventTime = '2026-01-01T11:30:00Z';
    const reportingInstance = 'default-scheduler-control-plane';
    const theirs = schedulerEvent('default-scheduler', { eventTime, reportingInstance });
    expect(schedulerFor(undefined, { events: [ours] })).toEqual(['stowage', 'event']);
    expect(schedulerFor(undefined, { events: [ours, theirs], leases: [lease()] })).toEqual([
      'upstream',
      'event',
    ]);
    // Under `stowage up` our scheduler reports as default-scheduler, and its Lease says so.
    const both = { events: [schedulerEvent('default-scheduler', { eventTime })], leases: [lease()] };
    expect(schedulerFor(undefined, both)).toEqual(['stowage', 'lease']);
    const ofEarlierPod = { ...ours, involvedObject: { ...ours.involvedObject, uid: 'another' } };
    expect(schedulerFor(undefined, { events: [ofEarlierPod] })).toEqual(['upstream', 'schedulerName']);
  });

  test('is that of stowage up if Leases may not be read and the server is that of stowage up', () => {
    const events = [schedulerEvent('default-scheduler')];
    const unread = { isEmbedded: true, leases: undefined };
    expect(schedulerFor(undefined, { ...unread, events })).toEqual(['stowage', 'server']);
    expect(schedulerFor('batch', unread)).toEqual(['upstream', 'schedulerName']);
    // No scheduler of ours runs: another one may place the pods.
    expect(schedulerFor(undefined, { isEmbedded: true, leases: [] })).toEqual(['upstream', 'schedulerName']);
  });

  test('includes the changes of a configuration file, and yields to --profile', () => {
    const profile = { ...stowageProfile, name: 'stowage, changed', assignment: 'ascending' } as const;
    const view = { leases: [lease({ profile })] };
    expect(schedulerFor('stowage', view)).toEqual(['stowage, changed', 'lease']);
    expect(schedulerFor('stowage', view, 'upstream')).toEqual(['upstream', 'flag']);
  });

  test('is assumed, with a note, if the announced one cannot be read', () => {
    const strange = lease();
    const metadata = {
      ...strange.metadata,
      annotations: { ...strange.metadata?.annotations, 'stowage.dev/profile-changes': '{"newSwitch":1}' },
    };
    const view = viewOf({}, { leases: [{ ...strange, metadata }] });
    const found = findPodScheduler(view, podWith('p', '1'), { nowMs });
    expect(found).toMatchObject({ profile: stowageProfile, notes: [{ about: 'assumed' }] });
  });
});

test('a feature gate that is off keeps claims from being bound with their pods', () => {
  const view = viewOf(
    {
      Node: [nodeWith('n1', '4')],
      StorageClass: [storageClass('local')],
      PersistentVolumeClaim: [claim('data', '1Gi')],
    },
    { leases: [lease(), lease({}, { isOn: false, controller: 'pv-binder' })] },
  );
  const explanation = explainPod(view, podWith('p', '1', ['data']), { nowMs });
  expect(explanation.summary).toBe(
    'Pod default/p cannot run anywhere: claim default/data asks for class local, which waits for a pod, and the feature gate VolumeScheduling is off.',
  );
});

import { expect, test } from 'vitest';
import { readDriveClass, readInlineDriveKind } from './class-parameters.ts';

test('class parameters are read, and those of claims are ignored', () => {
  const read = readDriveClass({
    accessTier: 'hot',
    driveLabels: 'rack=r1, example.com/model=x',
    spreadBy: 'claim-owner',
    'csi.storage.k8s.io/fstype': 'xfs',
    'csi.storage.k8s.io/pvc/name': 'data',
    'stowage.dev/drive': 'd1',
  });
  expect(read).toEqual({
    ok: true,
    value: { tier: 'Hot', labels: { rack: 'r1', 'example.com/model': 'x' }, spreadsByOwner: true },
  });
  expect(readDriveClass({})).toMatchObject({ value: { tier: undefined, labels: {}, spreadsByOwner: false } });
});

test.each([
  [
    { accesTier: 'Hot' },
    'parameter accesTier is unknown; use accessTier, driveLabels, spreadBy or csi.storage.k8s.io/fstype',
  ],
  [{ accessTier: 'Fast' }, 'parameter accessTier: "Fast" must be one of Default, Hot, Warm, Cold'],
  [{ accessTier: '' }, 'parameter accessTier: "" must be one of Default, Hot, Warm, Cold'],
  [{ driveLabels: 'rack' }, 'parameter driveLabels: "rack" must be a label, such as rack=r1'],
  [{ driveLabels: 'a=b=c' }, 'parameter driveLabels: "a=b=c" must be a label, such as rack=r1'],
  [{ driveLabels: 'a=b,a=c' }, 'parameter driveLabels: the label a is there twice'],
  [{ spreadBy: 'node' }, 'parameter spreadBy: "node" must be claim-owner'],
  [
    { 'csi.storage.k8s.io/fstype': 'ext4' },
    'parameter csi.storage.k8s.io/fstype: drives have the filesystem xfs, not "ext4"',
  ],
])('%j is refused with a sentence', (parameters, problem) => {
  expect(readDriveClass(parameters)).toEqual({ ok: false, problem });
});

test('attributes of an inline volume are those of a class that say which drives it accepts', () => {
  const pushed = {
    'csi.storage.k8s.io/size': '5Gi',
    'csi.storage.k8s.io/ephemeral': 'true',
    'csi.storage.k8s.io/pod.name': 'p',
  };
  expect(readInlineDriveKind({ ...pushed, accessTier: 'hot', driveLabels: 'rack=r1' })).toEqual({
    ok: true,
    value: { tier: 'Hot', labels: { rack: 'r1' } },
  });
  expect(readInlineDriveKind(pushed)).toEqual({ ok: true, value: { tier: undefined, labels: {} } });
  expect(readInlineDriveKind({ spreadBy: 'claim-owner' })).toEqual({
    ok: false,
    problem: 'spreadBy is for the volumes of claims; remove it',
  });
  expect(readInlineDriveKind({ accessTier: 'fast' })).toMatchObject({
    problem: 'accessTier: "fast" must be one of Default, Hot, Warm, Cold',
  });
});

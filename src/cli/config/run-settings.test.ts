import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { stowageProfile, upstreamProfile } from '../../engine/cluster-index/profile.ts';
import { runSettings, type SettingFlags } from './run-settings.ts';

const head = 'apiVersion: stowage.dev/v1alpha1\nkind: StowageConfiguration\n';

function fileWith(text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'stowage-config-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'stowage.yaml');
  writeFileSync(path, text);
  return path;
}

async function settingsWith(text: string, flags: SettingFlags = {}) {
  return await runSettings({ ...flags, config: fileWith(head + text) });
}

async function problemsWith(text: string): Promise<readonly string[]> {
  const config = fileWith(text);
  const error = await runSettings({ config }).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(Error);
  return (error as Error).message.replaceAll(`${config}: `, '').split('\n');
}

const everything = `
controllers: [scheduler, pv-binder]
schedulerNames: [stowage, batch]
profile:
  base: upstream
  honourMatchFields: true
  assignment: exact
  inFlight: linear
  inFlightOf: { lvm.example.com: one-at-a-time }
  poolForms: [CSIStorageCapacity]
  scoring:
    method: utilization
    poolShape: [{ utilization: 0, score: 0 }, { utilization: 50, score: 10 }]
  settledPromiseMaxSeconds: 30
bindTimeoutSeconds: 90
backOff: { initialSeconds: 0.5, maxSeconds: 4 }
featureGates: { VolumeScheduling: false }
leaderElection: { leaderElect: false }
httpAddress: 127.0.0.1:9808
csi:
  addresses: [unix:///csi/csi.sock]
  timeoutSeconds: 20
  strictTopology: true
  immediateTopology: false
  extraCreateMetadata: true
  defaultFsType: xfs
  capacity:
    form: DriverCapacity
    pollIntervalSeconds: 30
    forEphemeral: true
    forImmediateBinding: true
    topologyPrefix: topology.example.com/
    ownerRefLevel: -1
    threads: 2
`;

test('without flags and file, the scheduler runs as Stowage has it', async () => {
  expect(await runSettings({})).toEqual({
    names: ['scheduler'],
    schedulerNames: ['stowage'],
    profile: stowageProfile,
    volumeScheduling: true,
    leaderElection: true,
  });
});

test('the file says everything, and more than flags can', async () => {
  expect(await settingsWith(everything)).toEqual({
    names: ['scheduler', 'pv-binder'],
    schedulerNames: ['stowage', 'batch'],
    profile: {
      ...upstreamProfile,
      name: 'upstream, changed',
      honourMatchFields: true,
      assignment: 'exact',
      inFlight: 'linear',
      inFlightOf: { 'lvm.example.com': 'one-at-a-time' },
      poolForms: ['CSIStorageCapacity'],
      scoring: {
        method: 'utilization',
        volumeShape: upstreamProfile.scoring.volumeShape,
        poolShape: [
          { utilization: 0, score: 0 },
          { utilization: 50, score: 10 },
        ],
      },
      settledPromiseMaxMs: 30_000,
    },
    bindTimeoutMs: 90_000,
    backOff: { initialMs: 500, maxMs: 4_000 },
    volumeScheduling: false,
    leaderElection: false,
    httpAddress: '127.0.0.1:9808',
    csi: {
      addresses: ['unix:///csi/csi.sock'],
      timeoutMs: 20_000,
      strictTopology: true,
      immediateTopology: false,
      extraCreateMetadata: true,
      defaultFsType: 'xfs',
      capacity: {
        form: 'DriverCapacity',
        pollIntervalMs: 30_000,
        forEphemeral: true,
        forImmediateBinding: true,
        topologyPrefix: 'topology.example.com/',
        threads: 2,
      },
    },
  });
});

test('the example in the documentation is understood', async () => {
  const page = readFileSync(new URL('../../../docs/on-a-real-cluster.md', import.meta.url), 'utf8');
  const [, example = ''] = /```yaml\n([^`]+)```/.exec(page) ?? [];
  const { profile, ...settings } = await runSettings({ config: fileWith(example) });
  expect(settings).toEqual({
    names: ['scheduler'],
    schedulerNames: ['stowage', 'batch'],
    bindTimeoutMs: 600_000,
    backOff: { initialMs: 1_000, maxMs: 10_000 },
    volumeScheduling: true,
    leaderElection: true,
    httpAddress: ':9808',
  });
  expect(profile.scoring).toEqual(stowageProfile.scoring);
});

test('each flag wins over its field, and over no other', async () => {
  const flags: SettingFlags = {
    controllers: 'scheduler',
    schedulerName: ['own'],
    profile: 'stowage',
    featureGates: 'VolumeScheduling=true',
    leaderElect: 'true',
    httpAddress: ':1234',
    csiAddress: ['unix:///own.sock'],
    capacityPollInterval: '5s',
    strictTopology: true,
  };
  const { profile, csi, ...rest } = await settingsWith(everything, flags);
  expect(csi).toMatchObject({
    addresses: ['unix:///own.sock'],
    timeoutMs: 20_000,
    capacity: { form: 'DriverCapacity', pollIntervalMs: 5000 },
  });
  expect(rest).toEqual({
    names: ['scheduler'],
    schedulerNames: ['own'],
    bindTimeoutMs: 90_000,
    backOff: { initialMs: 500, maxMs: 4_000 },
    volumeScheduling: true,
    leaderElection: true,
    httpAddress: ':1234',
  });
  expect(profile.name).toBe('stowage, changed');
  expect([profile.scoring.method, profile.preboundIsFinal]).toEqual(['utilization', true]);
});

test.each<readonly [string, SettingFlags, object]>([
  ['profile:\nbackOff:\n', {}, { profile: stowageProfile }],
  ['profile: { base: upstream }', {}, { profile: upstreamProfile }],
  ['profile: { base: stowage }', { profile: 'upstream' }, { profile: upstreamProfile }],
  ['backOff: { initialSeconds: 20 }', {}, { backOff: { initialMs: 20_000, maxMs: 20_000 } }],
  ['backOff: { maxSeconds: 0 }', {}, { backOff: { initialMs: 1_000, maxMs: 0 } }],
  ['featureGates: {}', {}, { volumeScheduling: true }],
  ['leaderElection: { leaseSuffix: drives }', {}, { leaderElection: true, leaseSuffix: 'drives' }],
  ['leaderElection: { leaseSuffix: drives }', { leaseSuffix: 'own' }, { leaseSuffix: 'own' }],
  ['csi: { capacity: { threads: 2 } }', { csiAddress: ['unix:///x'] }, { csi: { capacity: { threads: 2 } } }],
  [
    'csi: { addresses: ["unix:///x"], nodeDeployment: true }',
    { nodeName: 'n1' },
    { csi: { nodeName: 'n1' }, leaderElection: false },
  ],
  [
    'featureGates: { CSIStorageCapacity: false }',
    {},
    { profile: expect.objectContaining({ poolForms: [] }) },
  ],
])('%s with %j', async (text, flags, expected) => {
  expect(await settingsWith(text, flags)).toMatchObject(expected);
});

test.each<readonly [string, readonly string[]]>([
  [
    'schedulerName: stowage',
    [
      'schedulerName: there is no such field; use one of apiVersion, kind, controllers, schedulerNames, profile, ' +
        'bindTimeoutSeconds, backOff, featureGates, leaderElection, httpAddress, csi, or remove it',
    ],
  ],
  [
    'csi: { timeoutSeconds: 0, capacity: { form: Both, threads: 1.5, ownerRefLevel: -2 } }',
    [
      'csi.timeoutSeconds: is 0; give seconds, 0.001 or more',
      'csi.capacity.form: "Both" is none of CSIStorageCapacity, DriverCapacity',
      'csi.capacity.threads: is 1.5; give a whole number from 1 to 100',
      'csi.capacity.ownerRefLevel: is -2; give a whole number from -1 to 10',
    ],
  ],
  [
    'profile: { scoring: { metod: none } }',
    [
      'profile.scoring.metod: there is no such field; use one of method, volumeShape, poolShape, or remove it',
    ],
  ],
  [
    'featureGates: { Other: true }',
    [
      'featureGates.Other: there is no such field; use one of VolumeScheduling, CSIStorageCapacity, or remove it',
    ],
  ],
  [
    'profile: { namesClosestCandidate: "yes" }',
    ['profile.namesClosestCandidate: is "yes"; say true or false'],
  ],
  ['profile: { inFlight: none }', ['profile.inFlight: "none" is none of linear, one-at-a-time, off']],
  [
    'profile: { inFlightOf: { a.example.com: some } }',
    ['profile.inFlightOf[a.example.com]: "some" is none of linear, one-at-a-time, off'],
  ],
  ['profile: { scoring: { poolShape: [] } }', ['profile.scoring.poolShape: must have at least one point']],
  [
    'profile: { scoring: { volumeShape: [{ utilization: 0, score: 11 }, { utilization: 0, score: 1 }] } }',
    [
      'profile.scoring.volumeShape[0].score: must be from 0 to 10',
      'profile.scoring.volumeShape[1].utilization: must be greater than that of the previous point',
    ],
  ],
  [
    'profile: { scoring: { volumeShape: [{ utilization: 0 }] } }',
    ['profile.scoring.volumeShape[0]: is half a point; give utilization and score'],
  ],
  [
    'profile: { settledPromiseMaxSeconds: -1 }',
    ['profile.settledPromiseMaxSeconds: is -1; give seconds, 0 or more'],
  ],
  ['profile: upstream', [expect.stringMatching(/^profile: must have fields: base, honourMatchFields, /)]],
  ['bindTimeoutSeconds: 0', ['bindTimeoutSeconds: is 0; give seconds, 1 or more']],
  ['bindTimeoutSeconds: 10m', ['bindTimeoutSeconds: is "10m"; give seconds, 1 or more']],
  ['schedulerNames: stowage', ['schedulerNames: must be a list']],
  ['schedulerNames: ["", a]', ['schedulerNames[0]: is ""; give a text that is not empty']],
  [
    'kind: Other',
    ['line 3: key "kind" already set in map; remove one', 'kind: "Other" is none of StowageConfiguration'],
  ],
  [
    'backOff: 3\nleaderElection: { leaderElect: 1 }',
    [
      'backOff: must have fields: initialSeconds, maxSeconds',
      'leaderElection.leaderElect: is 1; say true or false',
    ],
  ],
])('a file with %s is refused', async (text, problems) => {
  expect(await problemsWith(head + text)).toEqual(problems);
});

test.each<readonly [string, readonly unknown[]]>([
  [
    '',
    [
      'apiVersion: is missing; write apiVersion: stowage.dev/v1alpha1',
      'kind: is missing; write kind: StowageConfiguration',
    ],
  ],
  [
    'apiVersion: stowage.dev/v2\nkind: StowageConfiguration',
    ['apiVersion: "stowage.dev/v2" is none of stowage.dev/v1alpha1'],
  ],
  ['- a', [expect.stringMatching(/^must have fields: apiVersion, /), expect.anything(), expect.anything()]],
  ['a: [', [expect.stringMatching(/^--config: cannot read yaml: line 1: /)]],
])('a file that is %j is refused', async (text, problems) => {
  expect(await problemsWith(text)).toEqual(problems);
});

test.each<readonly [string, string]>([
  ['controllers: []', 'controllers: would run nothing; name at least one, such as scheduler'],
  ['controllers: [absent]', 'controllers: unknown controller "absent"'],
  ['schedulerNames: []', 'schedulerNames: must not be empty; name at least one, such as stowage'],
  [
    'backOff: { initialSeconds: 2, maxSeconds: 1 }',
    'backOff.maxSeconds: is less than initialSeconds; give as much, or 0',
  ],
])('%s is refused', async (text, problem) => {
  await expect(settingsWith(text)).rejects.toThrow(problem);
});

test('with the console, no controller has to run', async () => {
  const flags = { controllers: 'none', console: true };
  expect((await runSettings(flags)).names).toEqual([]);
  expect((await settingsWith('controllers: []', { console: true })).names).toEqual([]);
});

test('a second document is not passed over', async () => {
  expect(await problemsWith(`${head}---\n${head}`)).toEqual([
    'holds several documents, of which only the first would count; leave one',
  ]);
});

test('a file that does not exist is reported', async () => {
  await expect(runSettings({ config: '/nowhere/a.yaml' })).rejects.toThrow(
    /^--config: cannot read \/nowhere\/a\.yaml: ENOENT/,
  );
});

test('the field csi in the documentation is understood', async () => {
  const page = readFileSync(new URL('../../../docs/csi-drivers.md', import.meta.url), 'utf8');
  const [example = ''] = /^csi:\n[^`]+/m.exec(page) ?? [];
  vi.stubEnv('POD_NAME', 'csi-0').stubEnv('NAMESPACE', 'storage');
  onTestFinished(() => void vi.unstubAllEnvs());
  expect((await settingsWith(example)).csi).toMatchObject({
    addresses: ['unix:///csi/csi.sock'],
    timeoutMs: 10_000,
    defaultFsType: 'ext4',
    capacity: { form: 'CSIStorageCapacity', pollIntervalMs: 60_000, threads: 4, owner: { level: 1 } },
  });
});

test('--allocation-only needs the provisioner', async () => {
  const controllers = 'scheduler,provisioner';
  expect((await runSettings({ controllers, allocationOnly: true })).allocationOnly).toBe(true);
  expect((await runSettings({ controllers })).allocationOnly).toBeUndefined();
  await expect(runSettings({ allocationOnly: true })).rejects.toThrow(
    '--allocation-only: has a meaning only',
  );
});

test.each<readonly [SettingFlags, string]>([
  [{ leaseSuffix: 'Drives' }, '--lease-suffix: "Drives" must be lower case letters'],
  [{ leaseSuffix: '' }, '--lease-suffix: "" must be lower case letters'],
  [{ leaseSuffix: 'x'.repeat(101) }, 'must be lower case letters'],
  [{ leaseSuffix: 'x', leaderElect: 'false' }, '--lease-suffix: has no meaning without leader election'],
])('%j is refused', async (flags, problem) => {
  await expect(runSettings(flags)).rejects.toThrow(problem);
});

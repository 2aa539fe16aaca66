/**
 * The admission policies of deploy/drives.yaml and deploy/disks.yaml, evaluated without an API server: who may write what. `test/kubernetes/chart-ledgers.test.ts`
 * runs them on a real one.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { compileExpression } from '../src/apiserver/cel/program.ts';
import { types } from '../src/apiserver/cel/types/types.ts';
import type { Value } from '../src/apiserver/cel/values/values.ts';
import { projectRoot } from './project-root.ts';

interface Rule {
  readonly name?: string;
  readonly expression: string;
  readonly message?: string;
  readonly messageExpression?: string;
}

interface Policy {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly matchConstraints: {
      readonly resourceRules: readonly {
        readonly operations: readonly string[];
        readonly resources: readonly string[];
      }[];
    };
    readonly matchConditions?: readonly Rule[];
    readonly variables?: readonly Rule[];
    readonly validations: readonly Rule[];
    readonly paramKind?: { readonly kind: string };
  };
}

interface Write {
  /** Such as `replicas/status`. */
  readonly resource: string;
  readonly account: string;
  /** The node of the pod that the token was made for. */
  readonly node?: string;
  readonly object: object | null;
  readonly oldObject: object | null;
  readonly isAuthorized?: boolean;
}

const policies = ['drives.yaml', 'disks.yaml'].flatMap((file) =>
  parseAllDocuments(readFileSync(join(projectRoot, 'deploy', file), 'utf8'))
    .map((document) => document.toJS() as Policy)
    .filter(({ kind }) => kind === 'ValidatingAdmissionPolicy'),
);
const costMax = 1_000_000;

function evaluate(text: string, variables: ReadonlyMap<string, Value>): Value {
  const scope = new Map([...variables.keys()].map((name) => [name, types.dyn]));
  const compiled = compileExpression(text, { variables: scope, fieldsOf: () => undefined });
  if (compiled.kind === 'issues') throw new Error(compiled.issues);
  const runnable = compiled.program.prepare();
  if (typeof runnable === 'string') throw new Error(runnable);
  const outcome = runnable.evaluate(variables, costMax);
  if (outcome.kind === 'error') throw new Error(`${text}: ${outcome.message}`);
  return outcome.value;
}

function celValue(json: unknown): Value {
  return evaluate(literal(json), new Map());
}

/** Values of a map must have one type, as in Kubernetes. */
function literal(json: unknown): string {
  if (Array.isArray(json)) return `dyn([${json.map(literal).join(', ')}])`;
  if (json === null || typeof json !== 'object') return `dyn(${JSON.stringify(json)})`;
  const entries = Object.entries(json).map(([key, value]) => `${JSON.stringify(key)}: ${literal(value)}`);
  return `dyn({${entries.join(', ')}})`;
}

/** The messages of the policies that refuse the write. `schedules` are the DiskSchedules of the cluster. */
function refusals(write: Write, schedules: readonly object[] = []): readonly string[] {
  return policies.flatMap((policy) => {
    if (!isMatched(policy, write)) return [];
    const params = policy.spec.paramKind === undefined ? [null] : schedules;
    return params.flatMap((param) => refusalsOf(policy, write, param));
  });
}

function operationOf({ object, oldObject }: Write): string {
  if (object === null) return 'DELETE';
  return oldObject === null ? 'CREATE' : 'UPDATE';
}

function isMatched({ spec }: Policy, write: Write): boolean {
  const isCovered = spec.matchConstraints.resourceRules.some(
    ({ operations, resources }) =>
      operations.includes(operationOf(write)) && resources.includes(write.resource),
  );
  const variables = variablesOf(write, null);
  return (
    isCovered &&
    (spec.matchConditions ?? []).every(({ expression }) => evaluate(expression, variables) === true)
  );
}

function variablesOf(write: Write, params: object | null): ReadonlyMap<string, Value> {
  const { resource, account, node, object, oldObject, isAuthorized = false } = write;
  const extra = node === undefined ? {} : { extra: { 'authentication.kubernetes.io/node-name': [node] } };
  const request = {
    operation: operationOf(write),
    resource: { group: 'stowage.dev', resource: resource.split('/')[0] },
    userInfo: { username: account, ...extra },
  };
  const all = { request, object, oldObject, params, isAuthorized };
  return new Map(Object.entries(all).map(([name, json]) => [name, celValue(json)]));
}

function refusalsOf({ spec }: Policy, write: Write, params: object | null): readonly string[] {
  const variables = variablesOf(write, params);
  // The authorizer is the API server's; what it would answer is part of the write.
  const inlined = (text: string): string =>
    (spec.variables ?? [])
      .reduce((all, { name, expression }) => all.replaceAll(`variables.${name}`, `(${expression})`), text)
      .replaceAll(/authorizer\.group\(.*?\.allowed\(\)/g, 'isAuthorized');
  return spec.validations.flatMap(({ expression, message, messageExpression }) => {
    if (evaluate(inlined(expression), variables) === true) return [];
    return [message ?? String(evaluate(inlined(messageExpression ?? "''"), variables))];
  });
}

const agent = 'system:serviceaccount:kube-system:stowage-disk-agent';
const finalizer = 'stowage.dev/disk-agent';
const otherFinalizer = 'stowage.dev/replica';

function replica(nodeID: string, more: { metadata?: object; spec?: object; status?: object } = {}): object {
  return {
    metadata: { name: 'v-r0', finalizers: [otherFinalizer], ...more.metadata },
    spec: { volumeName: 'v', nodeID, diskID: 'd', ...more.spec },
    ...(more.status && { status: more.status }),
  };
}

const token = { transferTokenSHA256: 'a'.repeat(64) };
const deleted = { deletionTimestamp: '2026-01-01T00:00:00Z' };

describe('an agent on node n1', () => {
  const update = (resource: string, oldObject: object, object: object): Write => ({
    resource,
    account: agent,
    node: 'n1',
    object,
    oldObject,
  });

  test('writes the status of replicas of its node only', () => {
    const write = (node: string) =>
      update('replicas/status', replica(node), replica(node, { status: token }));
    expect(refusals(write('n1'))).toEqual([]);
    expect(refusals(write('n2'))).toEqual([
      'spec.nodeID: the agent on node n1 may write the replicas of that node only',
    ]);
    const ofDeleted = update(
      'replicas/status',
      replica('n2', { metadata: deleted }),
      replica('n2', { metadata: deleted, status: token }),
    );
    expect(refusals(ofDeleted)).toHaveLength(1);
  });

  test('takes no replica of another node, and gives none of its own another volume', () => {
    expect(refusals(update('replicas', replica('n2'), replica('n1')))).toEqual([
      'an agent may change the status and its finalizer stowage.dev/disk-agent only',
    ]);
    const otherVolume = replica('n1', { spec: { volumeName: 'secret' } });
    expect(refusals(update('replicas', replica('n1'), otherVolume))).toHaveLength(1);
    const owned = { ownerReferences: [{ uid: 'gone' }], finalizers: [otherFinalizer] };
    expect(refusals(update('replicas', replica('n1'), replica('n1', { metadata: owned })))).toHaveLength(1);
  });

  test('adds its finalizer, and removes it from deleted replicas, also of a disk that was moved', () => {
    const kept = (more = {}) => ({ finalizers: [otherFinalizer, finalizer], ...more });
    const added = (node: string) => update('replicas', replica(node), replica(node, { metadata: kept() }));
    expect(refusals(added('n1'))).toEqual([]);
    expect(refusals(added('n2'))).toHaveLength(1);
    const removed = (node: string, more: object) =>
      update('replicas', replica(node, { metadata: kept(more) }), replica(node, { metadata: more }));
    expect(refusals(removed('n1', deleted))).toEqual([]);
    expect(refusals(removed('n2', deleted))).toEqual([]);
    expect(refusals(removed('n1', {}))).toEqual([
      'metadata.finalizers: an agent removes stowage.dev/disk-agent from objects that are being deleted only',
    ]);
    const others = replica('n1', { metadata: { ...deleted, finalizers: [] } });
    expect(refusals(update('replicas', replica('n1', { metadata: deleted }), others))).toHaveLength(1);
  });

  test('writes the copies of images on its own disks only', () => {
    const schedules = ['n1', 'n2'].map((nodeID) => ({
      metadata: { name: `disk-${nodeID}` },
      spec: { name: 'd', nodeID },
    }));
    const image = (diskFileStatusMap: object) => ({
      metadata: { name: 'i' },
      spec: { source: {} },
      status: { size: 5, diskFileStatusMap },
    });
    const both = { 'disk-n1': { state: 'ready' }, 'disk-n2': { state: 'ready' } };
    const write = (map: object) => update('backingimages/status', image(both), image(map));
    expect(refusals(write({ ...both, 'disk-n1': token }), schedules)).toEqual([]);
    expect(refusals(write({ 'disk-n2': both['disk-n2'] }), schedules)).toEqual([]);
    const refused = [expect.stringContaining('and disk disk-n2 is in another one')];
    expect(refusals(write({ ...both, 'disk-n2': token }), schedules)).toEqual(refused);
    expect(refusals(write({ 'disk-n1': both['disk-n1'] }), schedules)).toEqual(refused);
    const empty = { ...image({}), status: { size: 5 } };
    expect(refusals(update('backingimages/status', empty, image({ 'disk-n2': token })), schedules)).toEqual(
      refused,
    );
    const otherSource = { ...image(both), spec: { source: { volume: { name: 'secret' } } } };
    expect(refusals(update('backingimages', image(both), otherSource))).toHaveLength(1);
  });

  test('writes the status of its own StorageNode only', () => {
    const node = (name: string, zone: string) => ({ metadata: { name }, spec: {}, status: { zone } });
    const write = (name: string) => update('storagenodes/status', node(name, 'a'), node(name, 'b'));
    expect(refusals(write('n1'))).toEqual([]);
    expect(refusals(write('n2'))).toEqual([
      'status: the agent on node n1 may write the status of that StorageNode only',
    ]);
  });
});

test('the policies for agents do not apply to the controller disks', () => {
  const account = 'system:serviceaccount:kube-system:stowage-disks';
  const write = {
    resource: 'replicas',
    account,
    node: 'n1',
    object: replica('n1'),
    oldObject: replica('n2'),
  };
  expect(refusals(write)).toEqual([]);
});

describe('drives', () => {
  const driver = 'system:serviceaccount:kube-system:stowage-drives-node';
  const volumes = [{ name: 'pvc-1', sizeBytes: 10 }];
  const drive = (nodeName: string, more: { spec?: object; status?: object } = {}) => ({
    metadata: { name: 'd' },
    spec: { nodeName, ...more.spec },
    ...(more.status && { status: more.status }),
  });
  const onN1 = { account: driver, node: 'n1', isAuthorized: true };

  test('the driver on a node writes the status of the drives of that node only, and deletes no others', () => {
    const status = (node: string) => ({
      ...onN1,
      resource: 'drives/status',
      object: drive(node, { status: { state: 'Ready' } }),
      oldObject: drive(node),
    });
    const refused = [
      'spec.nodeName: the driver on node n1 may change the drives of that node only, and this one is on n2',
    ];
    expect(refusals(status('n1'))).toEqual([]);
    expect(refusals(status('n2'))).toEqual(refused);
    const removed = (node: string) => ({ ...onN1, resource: 'drives', object: null, oldObject: drive(node) });
    expect(refusals(removed('n1'))).toEqual([]);
    expect(refusals(removed('n2'))).toEqual(refused);
    const taken = { ...onN1, resource: 'drives', object: drive('n1'), oldObject: drive('n2') };
    expect(refusals(taken)).toEqual(refused);
  });

  test('a drive with volumes is deleted only by accounts that may change its ledger', () => {
    const removed = (isAuthorized: boolean, spec: object) => ({
      resource: 'drives',
      account: 'editor',
      isAuthorized,
      object: null,
      oldObject: drive('n1', { spec }),
    });
    expect(refusals(removed(false, {}))).toEqual([]);
    expect(refusals(removed(true, { volumes }))).toEqual([]);
    expect(refusals(removed(false, { volumes }))).toEqual([
      expect.stringContaining('editor lacks the right'),
    ]);
  });

  test('ledgers of new and existing drives need the right write-ledger', () => {
    const write = (oldObject: object | null, isAuthorized: boolean) => ({
      resource: 'drives',
      account: 'editor',
      isAuthorized,
      object: drive('n1', { spec: { volumes } }),
      oldObject,
    });
    for (const before of [null, drive('n1')]) {
      expect(refusals(write(before, true))).toEqual([]);
      expect(refusals(write(before, false))).toHaveLength(1);
    }
    expect(refusals(write(drive('n1', { spec: { volumes } }), false))).toEqual([]);
  });
});

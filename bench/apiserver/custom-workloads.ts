import { setTimeout as sleep } from 'node:timers/promises';
import { Connection } from './connection.ts';
import type { MeasuredServer } from './subject.ts';

const group = 'bench.example.com';
const definitionsPath = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
export const poolsPath = `/apis/${group}/v1/namespaces/default/pools`;
const servedTriesMax = 300;
const servedPauseMs = 100;

/**
 * Defines a kind with about 30 fields and a CEL rule, and waits until it is served. Returns false if the server has no custom resources.
 */
export async function definePools(subject: MeasuredServer): Promise<boolean> {
  const connection = await Connection.open(subject);
  try {
    const { status } = await connection.request('POST', definitionsPath, JSON.stringify(definition));
    if (status === 404) return false;
    if (status !== 201) throw new Error(`the definition failed with status ${status}`);
    for (let tries = 0; tries < servedTriesMax; tries += 1) {
      const listed = await connection.request('GET', poolsPath);
      if (listed.status === 200) return true;
      await sleep(servedPauseMs);
    }
    throw new Error('the custom kind is not served');
  } finally {
    connection.close();
  }
}

export function createPool(prefix: string) {
  return async (connection: Connection, index: number): Promise<void> => {
    const body = JSON.stringify(pool(`${prefix}-${index}`, 'deployer', index));
    const { status, body: text } = await connection.request('POST', poolsPath, body);
    if (status !== 201) throw new Error(`a create failed with status ${status}: ${text.toString()}`);
  };
}

/** The first manager applies the complete object, the others a disk and a label each. */
export function pool(name: string, manager: string, round: number): object {
  const isFirst = manager === 'deployer';
  const disks = [{ name: manager, device: `/dev/${manager}`, sizeGiB: 100 + round }];
  const spec = isFirst ? { ...wholeSpec, description: `round ${round}`, disks } : { disks };
  return { apiVersion: `${group}/v1`, kind: 'Pool', metadata: { name, labels: { [manager]: 'yes' } }, spec };
}

const wholeSpec = {
  class: 'fast',
  replicas: 3,
  minReplicas: 1,
  maxReplicas: 5,
  paused: false,
  priority: 10,
  tags: ['a', 'b', 'c'],
  selector: { zone: 'a', media: 'ssd' },
  limits: { iops: 1000, bytesPerSecond: 1048576 },
  schedule: { start: '01:00', end: '05:00', days: ['sat', 'sun'] },
  reclaim: { policy: 'Retain', afterSeconds: 3600, keepLast: 3 },
  encryption: { enabled: true, keyRef: { namespace: 'keys', name: 'pool' } },
};

const text = { type: 'string' };
const count = { type: 'integer', minimum: 0 };
const flag = { type: 'boolean' };
const struct = (properties: object): object => ({ type: 'object', properties });

const spec = {
  type: 'object',
  required: ['class'],
  'x-kubernetes-validations': [
    {
      rule: '!has(self.minReplicas) || !has(self.maxReplicas) || self.minReplicas <= self.maxReplicas',
      message: 'minReplicas must not be more than maxReplicas',
    },
  ],
  properties: {
    class: { type: 'string', enum: ['fast', 'slow'] },
    description: { type: 'string', maxLength: 200 },
    replicas: count,
    minReplicas: count,
    maxReplicas: count,
    paused: { type: 'boolean', default: false },
    priority: count,
    mode: { type: 'string', default: 'shared' },
    tags: { type: 'array', items: text, 'x-kubernetes-list-type': 'set' },
    selector: { type: 'object', additionalProperties: text },
    limits: struct({ iops: count, bytesPerSecond: count, burst: count }),
    schedule: struct({ start: text, end: text, days: { type: 'array', items: text } }),
    reclaim: struct({ policy: text, afterSeconds: count, keepLast: count }),
    encryption: struct({ enabled: flag, keyRef: struct({ namespace: text, name: text }) }),
    disks: {
      type: 'array',
      maxItems: 20,
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
      items: {
        type: 'object',
        required: ['name'],
        properties: {
          name: text,
          device: text,
          sizeGiB: count,
          readOnly: { type: 'boolean', default: false },
        },
      },
    },
  },
};

const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `pools.${group}` },
  spec: {
    group,
    scope: 'Namespaced',
    names: { plural: 'pools', kind: 'Pool' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', properties: { spec } } },
        subresources: { status: {} },
      },
    ],
  },
};

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { Cluster, ResourceClient } from '../../../../src/cluster/cluster.ts';
import type { KubeObject } from '../../../../src/kube/api/meta.ts';
import { ApiError } from '../../../../src/kube/api-error.ts';
import { projectRoot } from '../../../project-root.ts';
import type { Write } from './write.ts';

/** One example of each kind, in the file of that name. */
export const examples = join(projectRoot, 'examples/kinds');

export interface Example extends KubeObject {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec?: object;
  readonly status?: object;
}

export function exampleOf(name: string): Example {
  return parse(readFileSync(join(examples, `${name}.yaml`), 'utf8')) as Example;
}

const irregularPlurals: Readonly<Record<string, string>> = {
  DriverCapacity: 'drivercapacities',
  DiskSettings: 'disksettings',
};

export function clientOf(cluster: Cluster, kind: string): ResourceClient<KubeObject> {
  const plural = irregularPlurals[kind] ?? `${kind.toLowerCase()}s`;
  return cluster.resource({ group: 'stowage.dev', version: 'v1alpha1', kind, plural, namespaced: false });
}

/** The result of a write as a dry run: `accepted`, or the causes of the rejection. */
export async function tryWrite(cluster: Cluster, write: Write): Promise<readonly string[]> {
  const object = exampleOf(write.example);
  const client = clientOf(cluster, object.kind);
  const options = { dryRun: true, fieldValidation: 'Strict' } as const;
  if (write.by === 'create') {
    const { status: _, ...fresh } = merged(
      { ...object, metadata: { name: 'other' } },
      write.change,
    ) as Example;
    return await causes(client.create(fresh, options));
  }
  const subresource = write.by === 'status' ? { subresource: 'status' } : {};
  const patch = { type: 'merge', body: write.change } as const;
  return await causes(client.patch({ name: object.metadata.name }, patch, { ...options, ...subresource }));
}

/** `field: sentence` of each. */
export async function causes(write: Promise<unknown>): Promise<readonly string[]> {
  try {
    await write;
    return ['accepted'];
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const all = error.status.details?.causes ?? [];
    return all.map(({ field, message }) => `${field}: ${message}`).sort();
  }
}

/** Like a JSON merge patch. */
export function merged(value: unknown, change: unknown): unknown {
  if (typeof change !== 'object' || change === null || Array.isArray(change)) return change;
  const old = value as Record<string, unknown> | undefined;
  const entries = Object.entries(change).map(([key, each]) => [key, merged(old?.[key], each)]);
  const all: Record<string, unknown> = { ...old, ...Object.fromEntries(entries) };
  return Object.fromEntries(Object.entries(all).filter(([, each]) => each !== null));
}

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { EmbeddedServer } from '../src/apiserver/embedded-server.ts';
import { builtInKindCatalog } from '../src/apiserver/kinds/built-in-kinds.ts';
import type { JsonSchema } from '../src/apiserver/schema/json-schema.ts';
import type { Cluster } from '../src/cluster/cluster.ts';
import { EmbeddedCluster } from '../src/cluster/embedded-cluster.ts';
import { Interner } from '../src/engine/records/interner.ts';
import { readDriverPools } from '../src/engine/records/pool-record.ts';
import type { KubeObject } from '../src/kube/api/meta.ts';
import type { CustomResourceDefinition } from '../src/kube/api/stored/apiextensions.ts';
import { type DriverCapacity, stowageGroup, stowageVersion } from '../src/kube/stowage/driver-capacity.ts';
import { realClock } from '../src/runtime/clock.ts';
import { systemIds } from '../src/runtime/ids.ts';
import { seededRandom } from '../src/runtime/random.ts';
import { type DescribedKind, kindsPage } from './kinds-page.ts';
import { acceptedWrites } from './kubernetes/testing/kinds/accepted-writes.ts';
import { refusedByDisks } from './kubernetes/testing/kinds/refused-by-disks.ts';
import { refusedByDrives } from './kubernetes/testing/kinds/refused-by-drives.ts';
import { clientOf, exampleOf, tryWrite } from './kubernetes/testing/kinds/try-write.ts';
import { projectRoot } from './project-root.ts';

const kinds = {
  Drive: 'drive',
  DriverCapacity: 'driver-capacity',
  DiskSchedule: 'disk-schedule',
  StorageNode: 'storage-node',
  DiskSettings: 'disk-settings',
  Volume: 'volume',
  Replica: 'replica',
  BackingImage: 'backing-image',
};
const folder = join(projectRoot, 'deploy/crds');
const files = readdirSync(folder).map((file) => ({ file, text: readFileSync(join(folder, file), 'utf8') }));
const definitions = files.map(({ text }) => parse(text) as CustomResourceDefinition);
const schemas = definitions.map(({ spec }) => [spec.names.kind, schemaOf(spec)] as const);
const wholeBytes = { format: 'int64', maximum: 2 ** 53 - 1 };

describe('the definitions of our kinds', () => {
  test('are packed into one file for a quick start; -u packs them again', async () => {
    const packed = definitions.map((definition) => `${JSON.stringify(definition)}\n`).join('');
    await expect(packed).toMatchFileSnapshot(join(projectRoot, 'deploy/definitions.ndjson'));
  });

  test('are one per file, and exist for all kinds', () => {
    for (const { file, text } of files) {
      const [definition, ...others] = parseAllDocuments(text).map((each) => each.toJS());
      const { group, names } = definition.spec;
      expect([file, others]).toEqual([`${group}_${names.plural}.yaml`, []]);
      expect(definition.metadata.name).toBe(`${names.plural}.${group}`);
    }
    expect(schemas.map(([kind]) => kind).toSorted()).toEqual(Object.keys(kinds).toSorted());
  });

  test('agree in what all kinds share', () => {
    for (const { spec } of definitions) {
      expect(spec).toMatchObject({
        group: stowageGroup,
        scope: 'Cluster',
        names: { categories: ['stowage'] },
      });
      expect(spec.versions).toHaveLength(1);
      const same = { name: stowageVersion, served: true, storage: true, subresources: { status: {} } };
      expect(spec.versions?.[0]).toMatchObject(same);
    }
  });

  test('have short names that no other kind has', () => {
    const theirs = builtInKindCatalog().all.flatMap(({ shortNames = [], plural, singular }) => [
      ...shortNames,
      plural,
      singular,
    ]);
    const ours = definitions.flatMap(({ spec }) => spec.names.shortNames ?? []);
    expect(new Set(ours).size).toBe(8);
    expect(ours.filter((name) => theirs.includes(name))).toEqual([]);
  });

  test.each(schemas)('describe every field of a %s', (_, schema) => {
    const silent = fieldsOf(schema)
      .filter(({ path }) => !/^(apiVersion|kind|metadata)$/.test(path))
      .filter(({ path, field: { description } }) => description === undefined && !/[\]*]$/.test(path));
    expect(silent.map(({ path }) => path)).toEqual([]);
  });

  test.each(schemas)('bound every number, string, list and map of a %s', (_, schema) => {
    const boundless = fieldsOf(schema).filter(({ path, field }) => !isBounded(field) && !isAtomic(path));
    expect(boundless.map(({ path }) => path)).toEqual(['apiVersion', 'kind']);
  });

  test.each(schemas)(
    'declare the bytes of a %s as integers that every program can represent',
    (_, schema) => {
      const sizes = fieldsOf(schema).filter(({ path }) =>
        /(Bytes|[sS]ize|storage(Scheduled|Limit|Maximum|Available|Reserved))$/.test(path),
      );
      for (const { path, field } of sizes)
        expect({ path, ...field }).toMatchObject({ path, type: 'integer', ...wholeBytes });
    },
  );

  test.each(schemas)('give every list of a %s a type, so that writers know what they own', (_, schema) => {
    const lists = fieldsOf(schema).filter(({ path, field }) => field.type === 'array' && !isAtomic(path));
    expect(lists.filter(({ field }) => field['x-kubernetes-list-type'] === undefined)).toEqual([]);
  });
});

describe('the pools of a driver', () => {
  const problemsOf = (change: object) => {
    const object = { metadata: { name: 'csi.example.com' }, ...change } as DriverCapacity;
    return readDriverPools(object, new Interner()).problems;
  };
  const reports = Object.entries({ ...acceptedWrites, ...refusedByDrives }).filter(
    ([, { example, by }]) => example === 'driver-capacity' && by === 'status',
  );

  test('are read from the example correctly', () => {
    const object = exampleOf('driver-capacity') as DriverCapacity;
    const { tracksCapacity, entries, problems } = readDriverPools(object, new Interner());
    expect({ tracksCapacity, problems }).toEqual({ tracksCapacity: true, problems: [] });
    const sizes = [...entries].map(([name, pools]) => [
      name,
      [...pools.values()].map(({ largest }) => largest?.bytes),
    ]);
    expect(sizes).toEqual([
      ['striped', [256 * 2 ** 30, 0]],
      ['<ephemeral>', [64 * 2 ** 30]],
      ['<fallback>', [1.5 * 2 ** 40]],
    ]);
  });

  test.each(reports.filter(([name]) => name in acceptedWrites))('are read: %s', (_, { change }) => {
    expect(problemsOf(change)).toEqual([]);
  });

  /** The reader accepts these: it uses the last entry, the first name, and the Kubernetes default of a field. */
  const forgiven = ['a duplicate node', 'a pool without a name', 'a duplicate class', 'an unknown field'];

  test.each(reports.filter(([name]) => !(name in acceptedWrites) && !forgiven.includes(name)))(
    'are rejected by the schema if the reader would report a problem: %s',
    (_, { change }) => {
      expect(problemsOf(change)).toHaveLength(1);
    },
  );
});

describe('our kinds in the embedded cluster', () => {
  let server: EmbeddedServer;
  let cluster: Cluster;

  beforeAll(async () => {
    server = await EmbeddedServer.start({
      clock: realClock,
      ids: systemIds,
      random: seededRandom('our kinds'),
      definitions,
      onError: (error) => {
        throw error;
      },
    });
    cluster = new EmbeddedCluster({ registry: server.registry, manager: 'test' });
    for (const { metadata, status, ...rest } of Object.values(kinds).map(exampleOf)) {
      const client = clientOf(cluster, rest.kind);
      await client.create({ ...rest, metadata } as KubeObject);
      const patch = { type: 'merge', body: { status } } as const;
      await client.patch(metadata, patch, { subresource: 'status' });
    }
  });

  afterAll(() => server.close());

  test.each(Object.entries(acceptedWrites))('accept %s', async (_, given) => {
    expect(await tryWrite(cluster, given)).toEqual(['accepted']);
  });

  test.each(Object.entries({ ...refusedByDrives, ...refusedByDisks }))('reject %s', async (_, given) => {
    expect(await tryWrite(cluster, given)).toEqual(given.because.toSorted());
  });
});

// `npx vitest run test/our-kinds -u` updates the page.
test('the page of kinds equals the definitions', async () => {
  await expect(kindsPage(described())).toMatchFileSnapshot(join(projectRoot, 'docs/kinds.md'));
});

function described(): readonly DescribedKind[] {
  return Object.entries(kinds).map(([kind, file]) => {
    const { spec } = definitions.find((each) => each.spec.names.kind === kind)!;
    const example = readFileSync(join(projectRoot, 'examples/kinds', `${file}.yaml`), 'utf8');
    const { plural, shortNames = [] } = spec.names;
    return { kind, plural, shortNames, schema: schemaOf(spec), example };
  });
}

function schemaOf(spec: CustomResourceDefinition['spec']): JsonSchema {
  return spec.versions![0]!.schema!.openAPIV3Schema as JsonSchema;
}

interface Field {
  readonly path: string;
  readonly field: JsonSchema;
}

/** All fields of a schema; `[]` is an item, `.*` a value of a map. */
function fieldsOf(schema: JsonSchema, path = ''): readonly Field[] {
  const { properties = {}, items, additionalProperties } = schema;
  const inner = Object.entries(properties).map(([name, field]) => [join(path, name), field] as const);
  const each = items === undefined ? [] : [[`${path}[]`, items] as const];
  const all = typeof additionalProperties === 'object' ? [[`${path}/*`, additionalProperties] as const] : [];
  return [...inner, ...each, ...all].flatMap(([at, field]) => [{ path: at, field }, ...fieldsOf(field, at)]);
}

function isBounded(field: JsonSchema): boolean {
  if (field.enum !== undefined || field.format === 'date-time') return true;
  if (field.type === 'string') return field.maxLength !== undefined;
  if (field.type === 'integer') return field.minimum !== undefined;
  if (field.type === 'array') return field.maxItems !== undefined;
  return field.additionalProperties === undefined || field.maxProperties !== undefined;
}

/** A selector is written as a whole, in the form of Kubernetes. */
function isAtomic(path: string): boolean {
  return path.includes('/nodeTopology/');
}

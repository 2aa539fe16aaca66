import { readdirSync, readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { isMap, isScalar, type Pair, parseDocument, type YAMLMap } from 'yaml';
import { projectRoot } from './project-root.ts';

const chart = join(projectRoot, 'deploy/chart');

/** One value of the chart. */
interface ChartValue {
  readonly path: string;
  readonly text: string;
  readonly value: unknown;
}

interface Schema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly string[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean | Schema;
}

// `npx vitest run chart-values-page -u` updates the page.
test('docs/chart-values.md lists every value of the chart', async () => {
  await expect(page(chartValues())).toMatchFileSnapshot(join(projectRoot, 'docs/chart-values.md'));
});

test('every value has a description, and the schema has exactly the values that there are', () => {
  const values = chartValues();
  expect(values.filter(({ text }) => text === '').map(({ path }) => path)).toEqual([]);
  const { properties: { global: _global, ...properties } = {}, ...schema } = readSchema();
  // Other charts may set values for all of their parts; Helm passes them on.
  expect(_global).toEqual({ type: 'object' });
  expect(schemaPaths({ ...schema, properties }).toSorted()).toEqual(
    values.map(({ path }) => path).toSorted(),
  );
});

test('the chart has the version of the package, and its definitions are those of deploy/crds', () => {
  const { version } = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8'));
  const { version: own, appVersion } = parseDocument(readFileSync(join(chart, 'Chart.yaml'), 'utf8')).toJS();
  expect({ own, appVersion }).toEqual({ own: version, appVersion: version });
  expect(realpathSync(join(chart, 'crds'))).toBe(realpathSync(join(projectRoot, 'deploy/crds')));
  expect(readdirSync(join(chart, 'crds'))).not.toEqual([]);
});

function chartValues(): readonly ChartValue[] {
  const { contents } = parseDocument(readFileSync(join(chart, 'values.yaml'), 'utf8'));
  if (!isMap(contents)) throw new Error('values.yaml is not a map');
  return valuesOf(contents, '');
}

function valuesOf(map: YAMLMap, prefix: string): readonly ChartValue[] {
  return (map.items as readonly Pair[]).flatMap(({ key, value }, at) => {
    if (!isScalar(key)) throw new Error(`${prefix}: a key is not a string`);
    const path = `${prefix}${key.value}`;
    if (isMap(value) && value.flow !== true && value.items.length > 0) return valuesOf(value, `${path}.`);
    // A comment above the first entry belongs to the map.
    const comment = key.commentBefore ?? (at === 0 ? map.commentBefore : undefined) ?? '';
    return [{ path, text: descriptionIn(comment), value: (value as { toJSON(): unknown }).toJSON() }];
  });
}

/** What follows the last ` -- `, on one line. */
function descriptionIn(comment: string): string {
  const [, text = ''] = /(?:^|\n) -- ([\s\S]*)$/.exec(comment) ?? [];
  return text.replaceAll(/\s*\n\s*/g, ' ').trim();
}

function readSchema(): Schema {
  return JSON.parse(readFileSync(join(chart, 'values.schema.json'), 'utf8'));
}

/** The paths of values: properties that allow no others belong to a group of values. */
function schemaPaths({ properties = {} }: Schema, prefix = ''): readonly string[] {
  return Object.entries(properties).flatMap(([name, each]) => {
    const path = `${prefix}${name}`;
    return each.additionalProperties === false ? schemaPaths(each, `${path}.`) : [path];
  });
}

function typeOf(path: string): string {
  const schema = path.split('.').reduce<Schema>((each, name) => each.properties?.[name] ?? {}, readSchema());
  if (schema.enum !== undefined) return 'one of several';
  const { type = 'any', items } = schema;
  if (type === 'array') return items?.type === 'object' ? 'list of objects' : 'list';
  return [type].flat().join(' or ');
}

function groupOf({ path }: ChartValue): string {
  return path.includes('.') ? path.split('.')[0]! : '';
}

function row({ path, text, value }: ChartValue): string {
  return `| \`${path}\` | ${typeOf(path)} | \`${JSON.stringify(value)}\` | ${text.replaceAll('|', '\\|')} |`;
}

function page(values: readonly ChartValue[]): string {
  const groups = new Set(values.map(groupOf));
  const sections = [...groups].flatMap((group) => [
    ...(group === '' ? [] : ['', `## ${group}`]),
    '',
    '| value | type | default | what |',
    '|---|---|---|---|',
    ...values.filter((value) => groupOf(value) === group).map(row),
  ]);
  return [
    '# Values of the chart',
    '',
    'What `helm install stowage deploy/chart` can be given with `--set` or `--values`; [installation](installation.md#with-helm) says how to',
    'begin. A value that is not in this list is refused, and so is one of another form. This page is made from the chart.',
    ...sections,
    '',
  ].join('\n');
}

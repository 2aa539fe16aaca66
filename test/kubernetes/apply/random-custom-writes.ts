import { randomMetadata } from '../../../src/apiserver/apply/testing/random-kinds.ts';
import { randomCustomSchema, regrouped } from '../../../src/apiserver/apply/testing/random-schemas.ts';
import type { Draw } from '../../../src/apiserver/apply/testing/random-values.ts';
import type { JsonSchema } from '../../../src/apiserver/schema/json-schema.ts';
import { type Random, seededRandom } from '../../../src/runtime/random.ts';
import { del, get, patch, post, put, type Scenario, type Step, scenario } from '../../fidelity/scenario.ts';

const managers = ['one', 'two', 'three'];
const names = ['a', 'b', 'c'];
const definitionsPath = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

/** A random definition with two versions, and random writes to objects of that kind. Deterministic for a seed. */
export function randomCustomWrites(seed: number, stepCount: number): Scenario {
  const random = seededRandom(`custom ${seed}`);
  const writes = new CustomObjectWrites(random, seed);
  const steps = Array.from({ length: stepCount }, () => writes.steps());
  return scenario(
    `custom apply ${seed}`,
    writes.begin(),
    ...steps,
    ...names.map((name) => get(writes.path(name))),
  );
}

class CustomObjectWrites {
  readonly #random: Random;
  readonly #group: string;
  readonly #schemas: Readonly<Record<string, JsonSchema>>;
  readonly #draw: Draw;
  readonly #drawStatus: Draw;
  readonly #hasStatus: boolean;
  #reads = 0;

  constructor(random: Random, seed: number) {
    const { schema, draw, status } = randomCustomSchema(random);
    const { properties = {}, ...root } = schema;
    const other = Object.entries(properties).map(([name, part]) => [name, regrouped(part, random)]);
    this.#random = random;
    this.#group = `s${seed}.example.com`;
    this.#schemas = { v1: schema, v2: { ...root, properties: Object.fromEntries(other) } };
    this.#draw = draw;
    this.#drawStatus = status;
    this.#hasStatus = random.next() < 0.7;
  }

  path(name: string, version = 'v1'): string {
    return `/apis/${this.#group}/${version}/namespaces/{{ns}}/things/${name}`;
  }

  begin(): readonly Step[] {
    const versions = Object.entries(this.#schemas).map(([name, schema]) => ({
      name,
      served: true,
      storage: name === 'v1',
      schema: { openAPIV3Schema: schema },
      ...(this.#hasStatus ? { subresources: { status: {} } } : {}),
    }));
    const spec = {
      group: this.#group,
      scope: 'Namespaced',
      names: { plural: 'things', kind: 'Thing' },
      versions,
    };
    const definition = { metadata: { name: `things.${this.#group}` }, spec };
    const isServed = { until: '"ThingList"', form: 'keys' } as const;
    return [
      post(
        definitionsPath,
        {
          apiVersion: 'apiextensions.k8s.io/v1',
          kind: 'CustomResourceDefinition',
          ...definition,
        },
        { form: 'keys' },
      ),
      get(`/apis/${this.#group}/v1/things`, isServed),
      get(`/apis/${this.#group}/v2/things`, isServed),
    ];
  }

  steps(): readonly Step[] {
    const [choice, name] = [this.#random.next(), this.#random.pick(names)];
    if (choice < 0.55) return [this.#apply(name)];
    if (choice < 0.65) return [patch('merge', this.#at(name), this.#partly())];
    if (choice < 0.72) return [this.#jsonPatch(name)];
    if (choice < 0.82) return this.#replace(name);
    if (choice < 0.85) return [this.#rareStep(name)];
    return [this.#writeStatus(name)];
  }

  #apply(name: string): Step {
    const version = this.#version();
    const force = this.#random.pick(['', '&force=true', '&force=true', '&dryRun=All']);
    return patch('apply', this.#at(name, version, '', force), this.#whole(name, version));
  }

  #jsonPatch(name: string): Step {
    const { spec = {} } = this.#draw(this.#random) as { readonly spec?: object };
    if (this.#random.next() < 0.4) {
      return patch('json', this.#at(name), [{ op: 'replace', path: '/spec', value: spec }]);
    }
    const operations = Object.entries(spec).map(([field, value]) => ({
      op: this.#random.pick(['add', 'replace', 'remove']),
      path: `/spec/${field}`,
      value,
    }));
    return patch('json', this.#at(name), operations);
  }

  /**
   * Replaces the object by a changed copy of what was read. It includes the resource version, as required for custom resources, and the
   * field owners.
   */
  #replace(name: string): readonly Step[] {
    const read = `read${this.#reads++}`;
    const version = this.#version();
    return [
      get(this.path(name, version), { as: read }),
      put(this.#at(name, version), this.#whole(name, version), { from: read }),
    ];
  }

  #rareStep(name: string): Step {
    const version = this.#version();
    return this.#random.pick([
      () => del(this.path(name, version)),
      () => patch('merge', this.#at(name), { metadata: { managedFields: [{}] } }),
      () => patch('apply', this.#at(name, version), { ...this.#whole(name, version), odd: 1 }),
      () => patch('strategic', this.#at(name), this.#partly()),
      () => post(this.path('', version).slice(0, -1), this.#whole(name, version)),
    ])();
  }

  #writeStatus(name: string): Step {
    const version = this.#version();
    const part = this.#hasStatus ? '/status' : '';
    const status = this.#drawStatus(this.#random);
    if (this.#random.next() < 0.3) return patch('merge', this.#at(name, version, part), { status });
    const body = this.#random.next() < 0.3 ? this.#whole(name, version) : this.#bare(name, version);
    const force = this.#random.pick(['', '&force=true']);
    return patch('apply', this.#at(name, version, part, force), { ...body, status });
  }

  #partly(): object {
    const body = this.#draw(this.#random) as object;
    return { ...body, metadata: randomMetadata(this.#random) };
  }

  #whole(name: string, version: string): object {
    const metadata = { ...(randomMetadata(this.#random) as object), name };
    return { ...this.#bare(name, version), ...(this.#draw(this.#random) as object), metadata };
  }

  #bare(name: string, version: string): object {
    return { apiVersion: `${this.#group}/${version}`, kind: 'Thing', metadata: { name } };
  }

  #version(): string {
    return this.#random.next() < 0.7 ? 'v1' : 'v2';
  }

  #at(name: string, version = 'v1', part = '', query = ''): string {
    const manager = this.#random.pick(managers);
    return `${this.path(name, version)}${part}?fieldManager=${manager}${query}`;
  }
}

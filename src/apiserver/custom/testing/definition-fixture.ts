import type { CustomResourceDefinition } from '../../../kube/api/stored/apiextensions.ts';
import { realClock } from '../../../runtime/clock.ts';
import { idsFrom } from '../../../runtime/ids.ts';
import { seededRandom } from '../../../runtime/random.ts';
import { builtInKindCatalog } from '../../kinds/built-in-kinds.ts';
import type { ServedKind, StoredObject } from '../../kinds/served-kind.ts';
import { bootstrap } from '../../registry/bootstrap.ts';
import { canonicalObject } from '../../registry/canonical-object.ts';
import { EmbeddedRegistry } from '../../registry/embedded-registry.ts';
import type { UpdateContext } from '../../registry/registry.ts';
import { MemoryStore } from '../../store/memory-store.ts';
import { DefinitionController } from '../definition-controller.ts';

const write: UpdateContext = { manager: 'test', user: 'test', warn: () => {} };
const definitionPath = ['apiextensions.k8s.io/v1', 'customresourcedefinitions'] as const;

export interface Widget extends StoredObject {
  readonly spec?: Readonly<Record<string, unknown>>;
}

/** An in-memory registry whose server can be restarted, with shortcuts for definitions and objects. */
export class DefinitionFixture {
  readonly #store = new MemoryStore();
  readonly #ids = idsFrom(seededRandom('definition fixture'));
  readonly errors: unknown[] = [];
  registry: EmbeddedRegistry;
  definitions: DefinitionController | undefined;

  private constructor() {
    this.registry = this.#newRegistry();
  }

  static async start(): Promise<DefinitionFixture> {
    const fixture = new DefinitionFixture();
    await bootstrap(fixture.registry);
    await fixture.restart();
    return fixture;
  }

  /** Like a new process with the same store. */
  async restart(): Promise<void> {
    await this.definitions?.close();
    this.registry = this.#newRegistry();
    const onError = (error: unknown) => void this.errors.push(error);
    this.definitions = await DefinitionController.start({
      registry: this.registry,
      clock: realClock,
      onError,
    });
    await this.definitions.settled();
  }

  async stop(): Promise<void> {
    await this.definitions?.close();
  }

  /** Stores the definition and waits until the controller has handled it. */
  async define(definition: object): Promise<void> {
    const kind = this.kind(...definitionPath);
    await this.registry.create(kind, undefined, canonicalObject(kind, definition, 'Strict'), write);
    await this.definitions?.settled();
  }

  async changeDefinition(name: string, body: object, subresource?: 'status'): Promise<void> {
    const patch = { type: 'merge', body, fieldValidation: 'Strict' } as const;
    await this.registry.patch(this.kind(...definitionPath), { name }, patch, { ...write, subresource });
    await this.definitions?.settled();
  }

  async definition(name: string): Promise<CustomResourceDefinition | undefined> {
    const { items } = await this.registry.list(this.kind(...definitionPath), {});
    const all = items.map(({ object }) => object as CustomResourceDefinition);
    return all.find(({ metadata }) => metadata.name === name);
  }

  async deleteDefinition(name: string): Promise<void> {
    await this.registry.delete(this.kind(...definitionPath), { name }, {}, write);
  }

  kind(apiVersion: string, plural: string): ServedKind {
    const found = this.registry.kinds.byPlural(apiVersion, plural);
    if (found === undefined) throw new Error(`${plural} of ${apiVersion} are not served`);
    return found;
  }

  async create(version: string, name: string, object: object): Promise<Widget> {
    const kind = this.kind(`example.com/${version}`, 'widgets');
    const decoded = canonicalObject(kind, { ...object, ...identity(version, name) });
    return (await this.registry.create(kind, 'default', decoded, write)).object as Widget;
  }

  async get(version: string, name: string): Promise<Widget> {
    const kind = this.kind(`example.com/${version}`, 'widgets');
    return (await this.registry.get(kind, { namespace: 'default', name })).object as Widget;
  }

  async patch(version: string, name: string, body: object, subresource?: 'status'): Promise<Widget> {
    const kind = this.kind(`example.com/${version}`, 'widgets');
    const patch = { type: 'merge', body, fieldValidation: 'Strict' } as const;
    const key = { namespace: 'default', name };
    const { snapshot } = await this.registry.patch(kind, key, patch, { ...write, subresource });
    return snapshot.object as Widget;
  }

  #newRegistry(): EmbeddedRegistry {
    return new EmbeddedRegistry({
      store: this.#store,
      kinds: builtInKindCatalog(),
      clock: realClock,
      ids: this.#ids,
    });
  }
}

function identity(version: string, name: string) {
  return {
    apiVersion: `example.com/${version}`,
    kind: 'Widget',
    metadata: { name, namespace: 'default' },
  };
}

/** The spec's properties by version; the first version is the storage version. */
export function widgetDefinition(
  versions: Readonly<Record<string, Readonly<Record<string, object>>>>,
): CustomResourceDefinition {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'widgets.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'widgets', kind: 'Widget' },
      versions: Object.entries(versions).map(([name, properties], index) => ({
        name,
        served: true,
        storage: index === 0,
        schema: {
          openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties } } },
        },
      })),
    },
  } as unknown as CustomResourceDefinition;
}

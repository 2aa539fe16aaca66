import { type CompiledLabelSelector, matchesLabels } from '../../../kube/selectors/label-selector.ts';
import type { PodSelectorRecord } from '../../records/pod-selector-record.ts';
import { SelectorIndex } from '../primitives/selector-index.ts';

interface SelectingService {
  readonly selector: CompiledLabelSelector;
}

/** The services of each namespace, indexed by the pod labels that they select. */
export class ServiceTable {
  readonly #byNamespace = new Map<string, SelectorIndex<SelectingService>>();
  readonly #byKey = new Map<string, SelectingService>();

  /** `key` is `namespace/name`. */
  set(key: string, record: PodSelectorRecord | undefined): void {
    const namespace = key.slice(0, key.indexOf('/'));
    const before = this.#byKey.get(key);
    if (before !== undefined) this.#byNamespace.get(namespace)?.delete(before);
    this.#byKey.delete(key);
    if (record?.selector === undefined) return;
    const service = { selector: record.selector };
    this.#byKey.set(key, service);
    let services = this.#byNamespace.get(namespace);
    if (services === undefined) {
      services = new SelectorIndex();
      this.#byNamespace.set(namespace, services);
    }
    services.add(service);
  }

  /** The selectors of the services that select the pod. */
  selecting(namespace: string, labels: Readonly<Record<string, string>>): CompiledLabelSelector[] {
    const services = this.#byNamespace.get(namespace)?.candidates(labels) ?? [];
    return services.map(({ selector }) => selector).filter((selector) => matchesLabels(selector, labels));
  }
}

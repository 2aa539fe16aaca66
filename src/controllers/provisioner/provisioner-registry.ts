import type { Provisioner, Provisioners } from './provisioner.ts';

/** A source of provisioners that may join while the controller runs. */
export interface JoiningProvisioners {
  get(name: string): Provisioner | undefined;
  /** `listener` is called with the name of each provisioner that joins from now on. Returns how to stop that. */
  onJoin(listener: (name: string) => void): () => void;
}

/** The provisioners of this process: those that it starts with, and those of CSI drivers, which may answer later. */
export class ProvisionerRegistry implements Provisioners {
  readonly #own: ReadonlyMap<string, Provisioner>;
  readonly #joining: JoiningProvisioners | undefined;

  /** If several provisioners have one name, the last of `own` is used, then the one that joins. */
  constructor(own: readonly Provisioner[], joining?: JoiningProvisioners) {
    this.#own = new Map(own.map((one) => [one.name, one]));
    this.#joining = joining;
  }

  get(name: string): Provisioner | undefined {
    return this.#own.get(name) ?? this.#joining?.get(name);
  }

  has(name: string): boolean {
    return this.get(name) !== undefined;
  }

  onJoin(listener: (name: string) => void): () => void {
    return this.#joining?.onJoin(listener) ?? (() => {});
  }
}

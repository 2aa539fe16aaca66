import type { Fault, FaultPhase } from './binding-faults.ts';
import { type BindingFixture, provisionedClass } from './binding-fixture.ts';
import type { InterceptedWrite } from './write-proxy.ts';

/** The pod to be bound, with claims `web-0` and `web-1`. */
export const pod = 'web';

/** A write of the binding: the `nth` whose target starts with `about`. */
export interface BindingStep {
  readonly name: string;
  readonly about: string;
  readonly nth: number;
  /** The PV controller makes the same write, and may be faster. */
  readonly isOptional?: true;
}

export interface BindingSequence {
  readonly name: string;
  /** The classes of the pod's claims; the disks have the class that is passed. */
  readonly claims: (fixture: string) => readonly string[];
  readonly steps: readonly BindingStep[];
}

const volumes = 'persistentvolumes/';
const claims = 'persistentvolumeclaims/';
const binding: BindingStep = { name: 'the binding', about: 'pods/', nth: 1 };

export const twoDisks: BindingSequence = {
  name: 'two disks',
  claims: (disk) => [disk, disk],
  steps: [
    { name: 'the first disk', about: volumes, nth: 1 },
    { name: 'the second disk', about: volumes, nth: 2 },
    { name: 'the first claim', about: claims, nth: 1 },
    { name: 'the second claim', about: claims, nth: 2 },
    binding,
  ],
};

export const newVolumeAndDisk: BindingSequence = {
  name: 'a new volume and a disk',
  claims: (disk) => [provisionedClass, disk],
  steps: [
    { name: 'the selected node', about: `${claims}web-0`, nth: 1 },
    { name: 'the claim of the new volume', about: `${claims}web-0`, nth: 2, isOptional: true },
    { name: 'the disk', about: volumes, nth: 1 },
    { name: 'the claim of the disk', about: `${claims}web-1`, nth: 1 },
    binding,
  ],
};

export interface FaultCase {
  readonly sequence: BindingSequence;
  readonly step: BindingStep;
  readonly fault: Fault;
}

/** The fault at each write of the sequence. */
export function atEveryStep(sequence: BindingSequence, fault: Fault): readonly FaultCase[] {
  return sequence.steps.map((step) => ({ sequence, step, fault }));
}

export interface FaultyBindingOptions extends FaultCase {
  readonly fixture: BindingFixture;
  /** Resolves when the PV controller is frozen. */
  readonly frozen: Promise<void>;
}

/**
 * The binding of one pod, with a fault at one of its writes. The PV controller could take over writes after the first disk has its
 * claimRef. So that write waits until the PV controller is frozen, and the scheduler makes all other writes.
 */
export class FaultyBinding {
  readonly fixture: BindingFixture;
  readonly #options: FaultyBindingOptions;
  readonly #passed: string[] = [];
  #faultedWrite: InterceptedWrite | undefined;
  #isHeld = false;

  constructor(options: FaultyBindingOptions) {
    this.fixture = options.fixture;
    this.#options = options;
  }

  get title(): string {
    const { sequence, step, fault } = this.#options;
    return `${sequence.name}, at ${step.name}: ${fault.name}; written: ${this.fixture.writes}`;
  }

  /** The write that the fault hit. */
  get faultedWrite(): InterceptedWrite | undefined {
    return this.#faultedWrite;
  }

  /** The PV controller isn't needed any more. */
  get mayFreeze(): boolean {
    return this.#isHeld || this.#faultedWrite !== undefined;
  }

  /** The fault has occurred, or cannot occur any more. */
  get isDone(): boolean {
    const isThrough = this.#passed.some((target) => target.startsWith(binding.about));
    return this.#faultedWrite !== undefined || (this.#options.step.isOptional === true && isThrough);
  }

  /** Runs the actions that follow the fault, if it occurred. */
  async runFollowUps(phase: FaultPhase): Promise<void> {
    if (this.#faultedWrite !== undefined)
      await this.#options.fault[phase]?.(this.fixture, this.#faultedWrite);
  }

  async start(): Promise<void> {
    await this.fixture.startScheduler((write) => this.#onWrite(write));
  }

  async createPod(): Promise<void> {
    const { fixture, sequence } = this.#options;
    await fixture.createPod(pod, sequence.claims(fixture.name));
  }

  async #onWrite(write: InterceptedWrite): Promise<void> {
    const { step, fault, fixture, frozen } = this.#options;
    this.#passed.push(write.target);
    if (this.#faultedWrite === undefined && write.target.startsWith(volumes)) {
      this.#isHeld = true;
      await frozen;
    }
    const count = this.#passed.filter((target) => target.startsWith(step.about)).length;
    if (this.#faultedWrite !== undefined || count !== step.nth || !write.target.startsWith(step.about))
      return write.answer(await write.deliver());
    await fault.inject(write, fixture, pod);
    this.#faultedWrite = write;
  }
}

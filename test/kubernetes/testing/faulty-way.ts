import type { Fault, Moment } from './binding-faults.ts';
import { type BindingTrial, madeClass } from './binding-trial.ts';
import type { PassingWrite } from './write-line.ts';

/** The pod to be bound, with claims `web-0` and `web-1`. */
export const pod = 'web';

/** A write of the binding: the `nth` whose target starts with `about`. */
export interface Step {
  readonly name: string;
  readonly about: string;
  readonly nth: number;
  /** The PV controller makes the same write, and may be faster. */
  readonly isOptional?: true;
}

export interface Way {
  readonly name: string;
  /** The classes of the pod's claims; the disks have the class that is passed. */
  readonly claims: (trial: string) => readonly string[];
  readonly steps: readonly Step[];
}

const volumes = 'persistentvolumes/';
const claims = 'persistentvolumeclaims/';
const binding: Step = { name: 'the binding', about: 'pods/', nth: 1 };

export const twoDisks: Way = {
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

export const newVolumeAndDisk: Way = {
  name: 'a new volume and a disk',
  claims: (disk) => [madeClass, disk],
  steps: [
    { name: 'the selected node', about: `${claims}web-0`, nth: 1 },
    { name: 'the claim of the new volume', about: `${claims}web-0`, nth: 2, isOptional: true },
    { name: 'the disk', about: volumes, nth: 1 },
    { name: 'the claim of the disk', about: `${claims}web-1`, nth: 1 },
    binding,
  ],
};

export interface Case {
  readonly way: Way;
  readonly step: Step;
  readonly fault: Fault;
}

/** The fault at each write of the sequence. */
export function everywhere(way: Way, fault: Fault): readonly Case[] {
  return way.steps.map((step) => ({ way, step, fault }));
}

export interface FaultyWayOptions extends Case {
  readonly trial: BindingTrial;
  /** Resolves when the PV controller is frozen. */
  readonly frozen: Promise<void>;
}

/**
 * The binding of one pod, with a fault at one of its writes. The PV controller could take over writes after the first disk has its
 * claimRef. So that write waits until the PV controller is frozen, and the scheduler makes all other writes.
 */
export class FaultyWay {
  readonly trial: BindingTrial;
  readonly #options: FaultyWayOptions;
  readonly #passed: string[] = [];
  #met: PassingWrite | undefined;
  #isHeld = false;

  constructor(options: FaultyWayOptions) {
    this.trial = options.trial;
    this.#options = options;
  }

  get title(): string {
    const { way, step, fault } = this.#options;
    return `${way.name}, at ${step.name}: ${fault.name}; written: ${this.trial.writes}`;
  }

  /** The write that the fault hit. */
  get met(): PassingWrite | undefined {
    return this.#met;
  }

  /** The PV controller isn't needed any more. */
  get mayFreeze(): boolean {
    return this.#isHeld || this.#met !== undefined;
  }

  /** The fault has occurred, or cannot occur any more. */
  get isOver(): boolean {
    const isThrough = this.#passed.some((target) => target.startsWith(binding.about));
    return this.#met !== undefined || (this.#options.step.isOptional === true && isThrough);
  }

  /** Runs the actions that follow the fault, if it occurred. */
  async afterwards(moment: Moment): Promise<void> {
    if (this.#met !== undefined) await this.#options.fault[moment]?.(this.trial, this.#met);
  }

  async start(): Promise<void> {
    await this.trial.schedule((write) => this.#meet(write));
  }

  async ask(): Promise<void> {
    const { trial, way } = this.#options;
    await trial.ask(pod, way.claims(trial.name));
  }

  async #meet(write: PassingWrite): Promise<void> {
    const { step, fault, trial, frozen } = this.#options;
    this.#passed.push(write.target);
    if (this.#met === undefined && write.target.startsWith(volumes)) {
      this.#isHeld = true;
      await frozen;
    }
    const count = this.#passed.filter((target) => target.startsWith(step.about)).length;
    if (this.#met !== undefined || count !== step.nth || !write.target.startsWith(step.about))
      return write.answer(await write.deliver());
    await fault.befall(write, trial, pod);
    this.#met = write;
  }
}

import type { Fault, Moment } from './binding-faults.ts';
import { type BindingTrial, madeClass } from './binding-trial.ts';
import type { PassingWrite } from './write-line.ts';

/** The pod that is on its way, with claims `web-0` and `web-1`. */
export const pod = 'web';

/** A write on a pod's way: the so-manyth that is about it. */
export interface Step {
  readonly name: string;
  readonly about: string;
  readonly nth: number;
  /** The PV controller does the same, and may be faster. */
  readonly isOptional?: true;
}

export interface Way {
  readonly name: string;
  /** What the pod claims; the trial's disks have a class of its name. */
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

/** The fault at every write of the way. */
export function everywhere(way: Way, fault: Fault): readonly Case[] {
  return way.steps.map((step) => ({ way, step, fault }));
}

export interface FaultyWayOptions extends Case {
  readonly trial: BindingTrial;
  /** The PV controller can't do anything from then on. */
  readonly frozen: Promise<void>;
}

/**
 * One pod's way, with a fault at one of its writes. What the PV controller could do in the scheduler's place comes after the first
 * disk has been claimed; that write waits until it is frozen, so that the scheduler gets to write all the rest.
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

  /** The write that the fault has befallen. */
  get met(): PassingWrite | undefined {
    return this.#met;
  }

  /** The PV controller isn't needed any more. */
  get mayFreeze(): boolean {
    return this.#isHeld || this.#met !== undefined;
  }

  /** It has met with the fault, or won't any more. */
  get isOver(): boolean {
    const isThrough = this.#passed.some((target) => target.startsWith(binding.about));
    return this.#met !== undefined || (this.#options.step.isOptional === true && isThrough);
  }

  /** What comes after the fault, if it was met. */
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

import type { PodSchedulerOptions } from '../../queries/explain/pod-scheduler.ts';
import { usage } from '../errors/cli-error.ts';

/** Parses the value of `--profile`. */
export function profileFlag(text: string | undefined): PodSchedulerOptions['profile'] {
  if (text === undefined || text === 'stowage' || text === 'upstream') return text;
  throw usage(`--profile: "${text}" must be stowage or upstream`);
}

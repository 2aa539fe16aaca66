/**
 * The group `batch/v1`: Job and CronJob.
 */
import { anyKind, type ServedKind } from '../served-kind.ts';
import { cronJobKind } from './cron-job.ts';
import { jobKind } from './job.ts';

export const batchKinds: readonly ServedKind[] = [anyKind(jobKind), anyKind(cronJobKind)];

import type { JobStatus } from '../../../kube/api/stored/batch.ts';

export function hasTrueCondition(status: JobStatus, type: string): boolean {
  return hasCondition(status, type, 'True');
}

export function hasCondition({ conditions }: JobStatus, type: string, value: string): boolean {
  return conditions?.some((condition) => condition.type === type && condition.status === value) ?? false;
}

export function isJobFinished(status: JobStatus): boolean {
  return hasTrueCondition(status, 'Complete') || hasTrueCondition(status, 'Failed');
}

import type { Severity } from './findings.ts';

/**
 * The output of `stowage doctor` for programs. Within a version, fields are only added and never change their meaning.
 */
export interface DoctorReport {
  readonly apiVersion: 'stowage.dev/doctor/v1';
  readonly kind: 'DoctorReport';
  readonly server: DoctorServer;
  readonly findings: readonly DoctorFinding[];
  /** Checks that could not be made. */
  readonly unchecked: readonly UncheckedSubject[];
  /** The number of checks that were made. */
  readonly checkCount: number;
}

export interface DoctorServer {
  readonly url: string;
  readonly version: string;
  /** True if it is the server of `stowage up`. */
  readonly isEmbedded: boolean;
}

export interface DoctorFinding {
  /** One of the stable codes of docs/doctor.md. */
  readonly code: string;
  readonly severity: Severity;
  readonly object: ExaminedObject;
  /** The problem of this object. */
  readonly detail: string;
  readonly meaning: string;
  readonly remedy: string;
}

export interface ExaminedObject {
  readonly kind: string;
  readonly namespace?: string | undefined;
  readonly name: string;
}

export interface UncheckedSubject {
  /** The check that could not be made. */
  readonly check: string;
  readonly why: string;
}

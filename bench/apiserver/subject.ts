/** A server under measurement, in processes of its own. */
export interface Subject {
  readonly name: string;
  readonly host: string;
  readonly port: number;
  /** PEM; undefined where the certificate is not checked. */
  readonly authority: string | undefined;
  readonly token: string;
  /** From the start of the process to the first answer. */
  readonly startMs: number;
  /** Resident memory of all its processes. */
  memoryMiB(): number;
  close(): Promise<void>;
}

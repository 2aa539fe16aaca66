import type { DrainStep, LeftLine } from './drain-report.ts';

/** The lists of a step that has nothing of them. */
export const emptyStep: Pick<DrainStep, 'objects' | 'pods' | 'volumes' | 'commands'> = {
  objects: [],
  pods: [],
  volumes: [],
  commands: [],
};

export function leftPod(name: string, why: string, remedy: string): LeftLine {
  return {
    kind: 'pod',
    name,
    claim: undefined,
    driver: undefined,
    bytes: 0,
    fitsOn: undefined,
    why,
    remedy,
  };
}

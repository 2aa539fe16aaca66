/** Something that an answer could not consider, or had to assume; or a `risk` that the pod's scheduler takes. */
export interface Note {
  readonly about: 'unseen' | 'missing' | 'unreadable' | 'assumed' | 'risk';
  readonly text: string;
}

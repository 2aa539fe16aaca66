/** Something that an answer could not consider, or had to assume. */
export interface Note {
  readonly about: 'unseen' | 'missing' | 'unreadable' | 'assumed';
  readonly text: string;
}

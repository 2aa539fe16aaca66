/** Something that an answer could not take into account, or took for granted. */
export interface Note {
  readonly about: 'unseen' | 'missing' | 'unreadable' | 'assumed';
  readonly text: string;
}

import { type Normalized, normalize, zeroObject } from './normalize.ts';
import { dropEmptyLists } from './stored-form.ts';

/** How values become objects of one type: by the API tables, or by the schema of a custom resource. */
export interface ObjectForm {
  /**
   * As `normalize` of the API tables: a copy in its stored form, or BadRequest. What was merged out of read objects is not read
   * again: nulls of a custom resource stay that its schema refuses, and embedded metadata stays as it is.
   */
  normalize(value: unknown, options?: { readonly isMerged: boolean }): Normalized;
  /** The object in which nothing is set. */
  zero(): Record<string, unknown>;
  /** What storing does to empty lists, in place. */
  dropEmptyLists(object: Record<string, unknown>): void;
}

/** Whatever says of which type it is: a kind, or what a body must be. */
export interface Typed {
  /** In the API tables: `core/v1.Pod`. */
  readonly type: string;
  /** Where the type is in no table. */
  readonly form?: ObjectForm | undefined;
}

export function formOf({ type, form }: Typed): ObjectForm {
  return form ?? tableForm(type);
}

const tableForms = new Map<string, ObjectForm>();

function tableForm(type: string): ObjectForm {
  let form = tableForms.get(type);
  if (form === undefined) {
    form = {
      normalize: (value) => normalize(type, value),
      zero: () => zeroObject(type),
      dropEmptyLists: (object) => dropEmptyLists(type, object),
    };
    tableForms.set(type, form);
  }
  return form;
}

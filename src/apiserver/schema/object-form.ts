import { type Normalized, normalize, zeroObject } from './normalize.ts';
import { dropEmptyLists } from './stored-form.ts';

/** How values are converted to objects of one type: by the API tables, or by the schema of a custom resource. */
export interface ObjectForm {
  /**
   * Like `normalize` of the API tables: returns a copy in stored form, or throws BadRequest. A merge result of decoded
   * objects is not decoded again: for a custom resource, nulls that its schema forbids stay, and embedded metadata is
   * not changed.
   */
  normalize(value: unknown, options?: { readonly isMerged: boolean }): Normalized;
  /** The object in which no field is set. */
  zero(): Record<string, unknown>;
  /** Applies what storing does to empty lists, in place. */
  dropEmptyLists(object: Record<string, unknown>): void;
}

/** A kind, or an expected body, that states its type. */
export interface Typed {
  /** The name in the API tables: `core/v1.Pod`. */
  readonly type: string;
  /** Set if the type is not in the tables. */
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

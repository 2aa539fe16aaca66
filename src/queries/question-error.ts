/** The question cannot be answered: it names an object that does not exist, or that cannot be read. The message also says what helps. */
export class QuestionError extends Error {
  override name = 'QuestionError';
}

import { QuestionError } from '../../queries/question-error.ts';
import type { PlanQuestion } from '../wire/plan.ts';

/** A plan is computed in the process of the console, which other viewers wait for meanwhile. `stowage plan` has no such limits. */
const changesMax = 50;
const textLengthMax = 300;
const addedNodesMax = 500;
const replicasMax = 10_000;

/** Reads the question of the page; throws a `QuestionError` if it is too large. */
export function readPlanQuestion(query: URLSearchParams): PlanQuestion {
  const question = {
    drain: query.getAll('drain'),
    addNodes: query.get('add-nodes') ?? undefined,
    like: query.get('like') ?? undefined,
    addDrive: query.getAll('add-drive'),
    replicas: query.getAll('replicas'),
  };
  const { drain, addNodes = '', like = '', addDrive, replicas } = question;
  const texts = [...drain, ...addDrive, ...replicas];
  if (texts.length > changesMax) throw tooLarge(`${changesMax} changes`);
  if ([...texts, addNodes, like].some(({ length }) => length > textLengthMax))
    throw tooLarge(`${textLengthMax} characters in a change`);
  if (Number(addNodes) > addedNodesMax) throw tooLarge(`${addedNodesMax} added nodes`);
  if (replicas.some((text) => Number(text.slice(text.indexOf('=') + 1)) > replicasMax))
    throw tooLarge(`${replicasMax} replicas`);
  return question;
}

function tooLarge(limit: string): QuestionError {
  return new QuestionError(`the console plans at most ${limit}; use stowage plan for more`);
}

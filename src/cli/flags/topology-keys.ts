import { isLabelKey } from '../../kube/selectors/label-syntax.ts';
import { driveNodeKey, furtherTopologyKeysMax, nodeTopologyKeys } from '../../kube/stowage/drive.ts';
import { usage } from '../errors/cli-error.ts';

/** The labels in the value of a flag, without those that are topology segments of drives anyway. */
export function topologyKeysIn(text: string | undefined, flag: string): readonly string[] {
  const keys = (text ?? '').split(',').map((key) => key.trim());
  const named = [...new Set(keys)].filter((key) => key !== '');
  for (const key of named)
    if (!isLabelKey(key)) throw usage(`${flag}: ${JSON.stringify(key)} must be the key of a label of Nodes`);
  const known = [driveNodeKey, ...nodeTopologyKeys];
  const further = named.filter((key) => !known.includes(key));
  if (further.length > furtherTopologyKeysMax)
    throw usage(`${flag}: name at most ${furtherTopologyKeysMax} labels`);
  return further;
}

import { anyKind, type Kind } from '../kind.ts';
import { customResourceDefinitionKind } from './custom-resource-definition.ts';

export const extensionKinds: readonly Kind[] = [anyKind(customResourceDefinitionKind)];

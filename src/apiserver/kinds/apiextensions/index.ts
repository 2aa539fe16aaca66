/**
 * The group `apiextensions.k8s.io/v1`: CustomResourceDefinition.
 */
import { anyKind, type ServedKind } from '../served-kind.ts';
import { customResourceDefinitionKind } from './custom-resource-definition.ts';

export const apiextensionsKinds: readonly ServedKind[] = [anyKind(customResourceDefinitionKind)];

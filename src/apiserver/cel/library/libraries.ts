import { declareFunctions, type Functions } from '../types/declarations.ts';
import { authorizationLibrary } from './authorization.ts';
import { conversionLibrary } from './conversions.ts';
import { formatLibrary } from './formats.ts';
import { listExtensionLibrary } from './list-extensions.ts';
import { listLibrary } from './lists.ts';
import { networkLibrary } from './networks.ts';
import { operatorLibrary } from './operators.ts';
import { optionalLibrary } from './optionals.ts';
import { quantityLibrary } from './quantity.ts';
import { regexLibrary } from './regex.ts';
import { semverLibrary } from './semver.ts';
import { standardStringLibrary } from './standard-strings.ts';
import { stringExtensionLibrary } from './string-extensions.ts';
import { timeLibrary } from './time.ts';
import { urlLibrary } from './urls.ts';

/** All functions that rules can call in Kubernetes 1.36, in the order of its environment. */
export const libraryFunctions: Functions = declareFunctions([
  operatorLibrary,
  conversionLibrary,
  standardStringLibrary,
  timeLibrary,
  urlLibrary,
  regexLibrary,
  listLibrary,
  authorizationLibrary,
  optionalLibrary,
  quantityLibrary,
  stringExtensionLibrary,
  networkLibrary,
  formatLibrary,
  semverLibrary,
  listExtensionLibrary,
]);

export function releaseProblems(project: string): readonly string[];
export function versionTexts(version: string): readonly (readonly [path: string, text: string])[];

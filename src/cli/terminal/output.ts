// The output formats for programs.
import { writeYaml } from '../../base/write-yaml.ts';

export const OUTPUTS = ['wide', 'yaml', 'json'] as const;

/** undefined = output for users. */
export function forPrograms(output: string | undefined, facts: () => object): string | undefined {
  if (output === 'json') return JSON.stringify(facts(), undefined, 2);
  if (output !== 'yaml') return undefined;
  return writeYaml(JSON.parse(JSON.stringify(facts()))).trimEnd();
}

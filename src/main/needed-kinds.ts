// If a cluster lacks the kinds that the controllers of a part watch, its start fails at once with their names and how
// to install them.
import type { Resource } from '../api/kind.ts';
import { qualified } from '../api/status.ts';
import { UserError } from '../base/errors.ts';
import type { ServerName } from '../runtime/controller.ts';
import type { ManagerOptions } from '../runtime/manager.ts';

const MAX_NAMED = 5;

/** A controller waits for the first list of each source that is not optional. */
export function neededBy(controllers: ManagerOptions['controllers'], on: ServerName): readonly Resource[] {
  const sources = controllers
    .flatMap(({ watches }) => watches)
    .filter(({ optional, source }) => optional !== true && source.on === on)
    .map(({ source: { resource } }) => resource);
  return [...new Map(sources.map((each) => [`${each.group}/${each.version}/${each.plural}`, each])).values()];
}

/** Throws a UserError that names the kinds that the server does not serve. */
export function checkKinds(
  { resources }: { readonly resources: readonly Pick<Resource, 'group' | 'version' | 'plural'>[] },
  needed: readonly Resource[],
  { where, remedy }: { readonly where: string; readonly remedy: string },
): void {
  const served = new Set(resources.map(({ group, version, plural }) => `${group}/${version}/${plural}`));
  const missing = needed.filter(({ group, version, plural }) => !served.has(`${group}/${version}/${plural}`));
  if (missing.length === 0) return;
  const names = missing.slice(0, MAX_NAMED).map((kind) => qualified(kind));
  const more = missing.length > MAX_NAMED ? ` and ${missing.length - MAX_NAMED} more` : '';
  throw new UserError('KindsMissing', `${where} does not serve ${names.join(', ')}${more}: ${remedy}`);
}

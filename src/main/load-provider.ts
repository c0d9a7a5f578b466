// `--property-provider MODULE`: a file or a package whose default export is a property provider. It runs with all
// permissions of the agent.
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { messageOf, UserError } from '../base/errors.ts';
import type { PropertyProvider } from '../member/properties/provider.ts';
import type { Log } from '../runtime/deps.ts';

export async function loadProvider(
  module: string | undefined,
  log: Pick<Log, 'warn'>,
): Promise<PropertyProvider | undefined> {
  if (module === undefined || module === 'none') return undefined;
  if (module === 'azure') {
    log.warn('the property provider "azure" is not part of Flotilla; the built-in collection is used', {
      next: 'write one with costs and VM sizes (docs/property-providers.md)',
    });
    return undefined;
  }
  let loaded: { readonly default?: unknown };
  try {
    loaded = (await import(existsSync(module) ? pathToFileURL(resolve(module)).href : module)) as typeof loaded;
  } catch (cause) {
    throw new UserError('BadProvider', `cannot load the property provider ${module}: ${messageOf(cause)}`, { cause });
  }
  const provider = loaded.default as Partial<PropertyProvider> | undefined;
  if (typeof provider?.collect === 'function') return provider as PropertyProvider;
  throw new UserError(
    'BadProvider',
    `the default export of ${module} has no function collect: it is no property provider`,
  );
}

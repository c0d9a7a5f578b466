// The hooks of swap.mjs. `data` is a list of [URL of the module, URL of the file to load in its place].
let replacements = new Map();
let originals = new Map();

export function initialize(data) {
  replacements = new Map(data);
  originals = new Map(data.map(([original, replacement]) => [replacement, original]));
}

const plain = (url) => url?.replace(/[?#].*$/, '');

export async function resolve(specifier, context, next) {
  // The replacement imports what the original would.
  const parentURL = originals.get(plain(context.parentURL)) ?? context.parentURL;
  const resolved = await next(specifier, { ...context, parentURL });
  const replacement = replacements.get(plain(resolved.url));
  return replacement === undefined ? resolved : { ...resolved, url: replacement };
}

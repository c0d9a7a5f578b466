// The least that a delivery can cost on the API servers it runs on: writes, each started by the watch event of the one before, through the
// transports that controllers have; nothing is decided, remembered or told.
//
// A letter of `hops` is a write: u of the user, H one of the hub's for all members, h one of the hub's for each member, r a member's on the hub,
// m a member's on itself. Write number n is a ConfigMap `hop-n`, in the namespace of its member or in `relay`; the user makes the first and
// watches the last.
const configMaps = { group: '', version: 'v1', plural: 'configmaps', kind: 'ConfigMap', namespaced: true };
const namespaces = { group: '', version: 'v1', plural: 'namespaces', kind: 'Namespace', namespaced: false };
const FOR_ALL = 'relay';
const OF_MEMBER = /^relay-(.+)$/;
const HOP = /^hop-(\d+)$/;
const homeOf = (member) => (member === undefined ? FOR_ALL : `relay-${member}`);
const isForAll = (letter) => letter === 'u' || letter === 'H';

/** What the writes go to, all of it in place before the first. */
export async function furnish(hub, members, hops, text) {
  const make = (transport, resource, object) =>
    transport.call({
      verb: 'create',
      at: { resource, namespace: object.metadata.namespace },
      object,
      manager: 'relay',
    });
  const home = async (transport, namespace, hold) => {
    await make(transport, namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
    for (const [hop, letter] of [...hops].entries()) {
      const metadata = { name: `hop-${hop}`, namespace };
      if (hold(letter))
        await make(transport, configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { text } });
    }
  };
  if (hub) await home(hub, homeOf(undefined), isForAll);
  for (const [member, own] of members) {
    if (hub) await home(hub, homeOf(member), (letter) => letter === 'h' || letter === 'r');
    if (own) await home(own, homeOf(member), (letter) => letter === 'm');
  }
}

async function follow(transport, namespace, go) {
  const at = namespace === undefined ? { resource: configMaps } : { resource: configMaps, namespace };
  const { list } = await transport.call({ verb: 'list', at });
  const events = transport.watch({ at, revision: list.metadata.resourceVersion }, new AbortController().signal);
  const read = async () => {
    for await (const batch of events) for (const { object } of batch) heard(object, go);
  };
  read().catch((error) => setImmediate(() => Promise.reject(error)));
}

function heard({ metadata, data }, go) {
  const hop = HOP.exec(metadata.name);
  if (hop) go({ change: data.change, hop: Number(hop[1]), member: OF_MEMBER.exec(metadata.namespace)?.[1] });
}

const writing = (transport, text) => (change, hop, member) => {
  const at = { resource: configMaps, namespace: homeOf(member), name: `hop-${hop}` };
  const patch = { type: 'merge', body: { data: { change, text } } };
  transport
    .call({ verb: 'patch', at, patch, manager: 'relay' })
    .catch((error) => setImmediate(() => Promise.reject(error)));
};

/** What the hub adds: whatever is its own turn, for all members that a write was for. */
export function hubSide(hub, members, hops, text) {
  const write = writing(hub, text);
  return follow(hub, undefined, ({ change, hop, member }) => {
    const next = hops[hop + 1];
    if (next === 'H') write(change, hop + 1, undefined);
    else if (next === 'h') for (const each of member === undefined ? members : [member]) write(change, hop + 1, each);
  });
}

/** What a member adds: it hears the hub, writes on itself, hears that, and tells the hub. */
export async function memberSide(name, hub, own, hops, text) {
  const [onHub, onItself] = [writing(hub, text), writing(own, text)];
  await follow(hub, homeOf(name), ({ change, hop }) => {
    if (hops[hop + 1] === 'm') onItself(change, hop + 1, name);
    if (hops[hop + 1] === 'r') onHub(change, hop + 1, name);
  });
  await follow(own, homeOf(name), ({ change, hop }) => onHub(change, hop + 1, name));
}

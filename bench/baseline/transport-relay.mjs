// The least that a delivery can cost on the API servers it runs on: its writes, each started by the watch event of the one before, through the
// transports that controllers have; nothing is decided, remembered or told.
//
// Each leg is a write: `by` u the user, H the hub for all members, h the hub for each member, r a member on the hub, m a member on itself. Leg
// number n goes to an object `hop-n-MEMBER` (or `hop-n-all`) of the leg's resource, made from the leg's object; `body` is a merge patch
// with $N for what is new each time.
const namespaces = { group: '', version: 'v1', plural: 'namespaces', kind: 'Namespace', namespaced: false };
const ALL = 'all';
const HOP = /^hop-(\d+)-(.+)$/;
const nameOf = (hop, member) => `hop-${hop}-${member}`;
const homeOf = (member) => `relay-${member}`;
const placeOf = ({ resource }, member) => ({ resource, ...(resource.namespaced ? { namespace: homeOf(member) } : {}) });
const isForAll = ({ by }) => by === 'u' || by === 'H';
const fail = (error) => setImmediate(() => Promise.reject(error));

/** What the writes go to, all of it in place before the first. */
async function furnish(transport, member, legs, isHere) {
  const metadata = { name: homeOf(member) };
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata };
  await transport.call({ verb: 'create', at: { resource: namespaces }, object: namespace, manager: 'relay' });
  for (const [hop, leg] of legs.entries()) {
    if (!isHere(leg)) continue;
    const at = placeOf(leg, member);
    const { namespace } = at;
    const named = { name: nameOf(hop, member), ...(namespace ? { namespace } : {}), labels: { by: leg.by } };
    const object = { ...leg.object, metadata: { ...leg.object.metadata, ...named } };
    await transport.call({ verb: 'create', at, object, manager: 'relay' });
  }
}

async function follow(transport, at, go) {
  const { list } = await transport.call({ verb: 'list', at });
  const events = transport.watch({ at, revision: list.metadata.resourceVersion }, new AbortController().signal);
  const read = async () => {
    for await (const batch of events) {
      for (const { object } of batch) {
        const hop = HOP.exec(object.metadata.name);
        if (hop) go(Number(hop[1]), hop[2]);
      }
    }
  };
  read().catch(fail);
}

const resourcesOf = (legs) => [...new Map(legs.map(({ resource }) => [resource.plural, resource])).values()];

function writing(transport, legs) {
  let number = 0;
  return (hop, member) => {
    const { body, subresource } = legs[hop];
    const at = { ...placeOf(legs[hop], member), name: nameOf(hop, member), ...(subresource ? { subresource } : {}) };
    const patch = { type: 'merge', body: JSON.parse(body.replaceAll('$N', String(++number))) };
    transport.call({ verb: 'patch', at, patch, manager: 'relay' }).catch(fail);
  };
}

/** What the hub adds: whatever is its own turn, for all members that a write was for. */
export async function hubSide(hub, members, legs) {
  await furnish(hub, ALL, legs, isForAll);
  for (const member of members) await furnish(hub, member, legs, ({ by }) => by === 'h' || by === 'r');
  const write = writing(hub, legs);
  for (const resource of resourcesOf(legs.filter(({ by }) => by !== 'm'))) {
    await follow(hub, { resource }, (hop, member) => {
      const { by } = legs[hop + 1] ?? {};
      if (by === 'H') write(hop + 1, ALL);
      else if (by === 'h') for (const each of member === ALL ? members : [member]) write(hop + 1, each);
    });
  }
}

/** What a member adds: it hears the hub, writes on itself, hears that, and tells the hub. */
export async function memberSide(name, hub, own, legs) {
  await furnish(own, name, legs, ({ by }) => by === 'm');
  const [onHub, onItself] = [writing(hub, legs), writing(own, legs)];
  const turn = legs.findIndex(({ by }) => by === 'm');
  await follow(hub, placeOf(legs[turn - 1], name), (hop) => hop === turn - 1 && onItself(turn, name));
  await follow(own, placeOf(legs[turn], name), () => onHub(turn + 1, name));
}

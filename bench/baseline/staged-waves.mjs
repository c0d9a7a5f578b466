// The least that the waves of a staged run can cost on the API servers it runs on: for every cluster of a wave the writes of one round trip, each
// started by the watch event of the one before, through the transports that controllers have; the last such event of a wave begins the next.
//
// A plan has `waves`, names of members, and `legs`, the writes: `by` u the user, h the hub for a member, r a member on the hub, m a member on
// itself. Leg number n goes to an object `hop-n-MEMBER` (the user's is `hop-0-all`), made from the leg's object; `body` is a merge patch with
// $N for what is new each time.
const namespaces = { group: '', version: 'v1', plural: 'namespaces', kind: 'Namespace', namespaced: false };
const ALL = 'all';
const HOP = /^hop-(\d+)-(.+)$/;
const nameOf = (hop, member) => `hop-${hop}-${member}`;
const homeOf = (member) => `relay-${member}`;
const placeOf = ({ resource }, member) => ({ resource, ...(resource.namespaced ? { namespace: homeOf(member) } : {}) });
const fail = (error) => setImmediate(() => Promise.reject(error));

/** What the writes go to, all of it in place before the first. */
async function furnish(transport, member, legs, by) {
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: homeOf(member) } };
  await transport.call({ verb: 'create', at: { resource: namespaces }, object: namespace, manager: 'relay' });
  for (const [hop, leg] of legs.entries()) {
    if (!by.includes(leg.by)) continue;
    const at = placeOf(leg, member);
    const named = { name: nameOf(hop, member), ...(at.namespace ? { namespace: at.namespace } : {}) };
    const metadata = { ...leg.object.metadata, ...named, labels: { by: leg.by } };
    await transport.call({ verb: 'create', at, object: { ...leg.object, metadata }, manager: 'relay' });
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

function writing(transport, legs) {
  let number = 0;
  return (hop, member) => {
    const { body, subresource } = legs[hop];
    const at = { ...placeOf(legs[hop], member), name: nameOf(hop, member), ...(subresource ? { subresource } : {}) };
    const patch = { type: 'merge', body: JSON.parse(body.replaceAll('$N', String(++number))) };
    transport.call({ verb: 'patch', at, patch, manager: 'relay' }).catch(fail);
  };
}

export async function hubSide(hub, _members, { legs, waves }) {
  await furnish(hub, ALL, legs, 'u');
  for (const member of waves.flat()) await furnish(hub, member, legs, 'hr');
  const write = writing(hub, legs);
  let [at, underWay] = [0, 0];
  const begin = (wave = []) => {
    underWay = wave.length;
    for (const member of wave) write(1, member);
  };
  const resources = new Map(legs.filter(({ by }) => by !== 'm').map(({ resource }) => [resource.plural, resource]));
  for (const resource of resources.values()) {
    await follow(hub, { resource }, (hop, member) => {
      if (hop === 0) at = 0;
      if (hop === 0 || (hop === legs.length - 1 && --underWay === 0)) begin(waves[at++]);
      else if (legs[hop + 1]?.by === 'h') write(hop + 1, member);
    });
  }
}

/** What a member adds: it hears the hub, writes on itself, hears that, and tells the hub. */
export async function memberSide(name, hub, own, { legs, waves }) {
  if (!waves.flat().includes(name)) return;
  await furnish(own, name, legs, 'm');
  const [onHub, onItself] = [writing(hub, legs), writing(own, legs)];
  const turn = legs.findIndex(({ by }) => by === 'm');
  await follow(hub, placeOf(legs[turn - 1], name), (hop) => hop === turn - 1 && onItself(turn, name));
  await follow(own, placeOf(legs[turn], name), () => onHub(turn + 1, name));
}

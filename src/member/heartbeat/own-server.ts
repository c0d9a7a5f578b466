// Version, address and certificates of the member's own API server. They are reported with the heartbeat and never
// delay one.
import type { MemberStatus } from '../../api/member-status.ts';
import { properties } from '../../api/names.ts';
import type { Clock } from '../../base/clock.ts';
import { kubeTime } from '../../base/clock.ts';

export interface OwnServer {
  /** In the format of Kubernetes, such as `v1.34.4`. */
  readonly version?: string;
  /** The address at which other clients reach it. */
  readonly entrypoint?: string;
  /** PEM. */
  readonly certificates?: string;
}

/** The interval of version reads. */
const FRESH_MS = 15 * 60_000;
const RETRY_MS = 60_000;
const LONGEST_READ_MS = 10_000;

export interface OwnServerOptions extends Pick<OwnServer, 'entrypoint' | 'certificates'> {
  /** Reads the version from the server. */
  readVersion(signal: AbortSignal): Promise<string | undefined>;
  readonly clock: Clock;
}

/**
 * The returned function gives the last known answer; an old one starts a read in the background. Waits up to ten
 * seconds for the first read.
 */
export async function followOwnServer(options: OwnServerOptions): Promise<() => OwnServer> {
  const { clock, readVersion, ...fixed } = options;
  let version: string | undefined;
  let dueAt = 0;
  let isReading = false;

  async function read(): Promise<void> {
    isReading = true;
    const giveUp = new AbortController();
    let expire = () => {};
    const late = new Promise<never>((_, reject) => {
      expire = clock.at(clock.now() + LONGEST_READ_MS, 'version of the API server', () => {
        giveUp.abort();
        reject(new Error('no answer'));
      });
    });
    try {
      version = (await Promise.race([readVersion(giveUp.signal), late])) ?? version;
      dueAt = clock.now() + FRESH_MS;
    } catch {
      // The heartbeat already reports a server that does not respond.
      dueAt = clock.now() + RETRY_MS;
    } finally {
      expire();
      isReading = false;
    }
  }

  await read();
  return () => {
    if (!isReading && clock.now() >= dueAt) void read();
    return { ...fixed, ...(version === undefined ? {} : { version }) };
  };
}

type Properties = NonNullable<MemberStatus['properties']>;

/** Certificates are base64 on one line, because a property value must not have several lines. */
export function propertiesOf({ version, entrypoint, certificates }: OwnServer, now: number): Properties {
  const observationTime = kubeTime(now);
  const all = [
    [properties.kubernetesVersion, version],
    [properties.clusterEntrypoint, entrypoint],
    [properties.certificateAuthority, certificates && Buffer.from(certificates).toString('base64')],
  ] as const;
  return Object.fromEntries(
    all.flatMap(([name, value]) => (value === undefined ? [] : [[name, { value, observationTime }]])),
  );
}

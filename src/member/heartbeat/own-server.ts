// What an agent knows of its own API server besides its health. It is reported with the heartbeat and never delays one.
import type { MemberStatus } from '../../api/member-status.ts';
import { properties } from '../../api/names.ts';
import type { Clock } from '../../base/clock.ts';
import { kubeTime } from '../../base/clock.ts';

export interface OwnServer {
  /** As Kubernetes names it, such as `v1.34.4`. */
  readonly version?: string;
  /** The address at which others reach it. */
  readonly entrypoint?: string;
  /** PEM. */
  readonly certificates?: string;
}

/** How often the version is read. */
const FRESH_MS = 15 * 60_000;
const RETRY_MS = 60_000;
const LONGEST_READ_MS = 10_000;

export interface OwnServerOptions extends Pick<OwnServer, 'entrypoint' | 'certificates'> {
  /** Reads the version from the server. */
  readVersion(signal: AbortSignal): Promise<string | undefined>;
  readonly clock: Clock;
}

/** The answer is the last one known; an old one starts a read in the background. Waits for the first read, up to ten seconds. */
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
      // The heartbeat reports a server that does not answer.
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

/** Certificates are one line here, since texts of several lines are no good as properties. */
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

// Where an embedded server listens, and by which name others reach it. Loopback only, unless --bind names another
// address.
import { isIP, isIPv6 } from 'node:net';
import { UserError } from '../base/errors.ts';

export interface ListenFlags {
  readonly bind?: string;
  readonly advertise?: string;
}

export interface ListenAt {
  /** The address to listen on. */
  readonly address: string;
  /** The name or address in kubeconfigs. */
  readonly advertised: string;
  /** The address for programs of this machine, whether or not the advertised name resolves here. */
  readonly near: string;
  /** Additional names for the certificate. */
  readonly hosts: readonly string[];
  /** Other machines can connect. */
  readonly isOpen: boolean;
}

const LOOPBACK = '127.0.0.1';
const EVERYWHERE = new Set(['0.0.0.0', '::']);
const HOST_NAME = /^(?=.{1,253}$)[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?(\.[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)*$/i;

const refused = (message: string): UserError => new UserError('BadFlag', message);
const isLoopbackAddress = (address: string): boolean => address === '::1' || address.startsWith('127.');

export function listenAt({ bind, advertise }: ListenFlags): ListenAt {
  if (bind === undefined) {
    if (advertise !== undefined) {
      throw refused(
        `--advertise needs --bind: without it the server listens on ${LOOPBACK}, which other machines do not reach`,
      );
    }
    return { address: LOOPBACK, advertised: LOOPBACK, near: LOOPBACK, hosts: [], isOpen: false };
  }
  if (isIP(bind) === 0 || bind.includes('%')) {
    throw refused(
      `--bind "${bind}" is not an IP address: give one of this machine, or 0.0.0.0 for all, and the name with --advertise`,
    );
  }
  const isEverywhere = EVERYWHERE.has(bind);
  if (advertise === undefined && isEverywhere) {
    throw refused(`--bind ${bind} needs --advertise HOST: the name or address at which members reach this machine`);
  }
  const advertised = advertise ?? bind;
  if (EVERYWHERE.has(advertised) || (isIP(advertised) === 0 && !HOST_NAME.test(advertised))) {
    throw refused(
      `--advertise "${advertised}" is neither a host name nor an address of a machine; a port is given with --port`,
    );
  }
  const near = isEverywhere ? (isIPv6(bind) ? '::1' : LOOPBACK) : bind;
  return {
    address: bind,
    advertised,
    near,
    hosts: [...new Set([advertised, near])],
    isOpen: !isLoopbackAddress(bind),
  };
}

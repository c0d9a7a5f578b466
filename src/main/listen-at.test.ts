import { expect, test } from 'vitest';
import { type ListenAt, type ListenFlags, listenAt } from './listen-at.ts';

test.each<{ it: string; flags: ListenFlags; is: Partial<ListenAt> }>([
  {
    it: 'without flags: loopback, with the usual certificate',
    flags: {},
    is: { address: '127.0.0.1', advertised: '127.0.0.1', near: '127.0.0.1', hosts: [], isOpen: false },
  },
  {
    it: 'one address: it is advertised, and is in the certificate',
    flags: { bind: '10.0.0.5' },
    is: { address: '10.0.0.5', advertised: '10.0.0.5', near: '10.0.0.5', hosts: ['10.0.0.5'], isOpen: true },
  },
  {
    it: 'one address with a name: both are in the certificate',
    flags: { bind: '10.0.0.5', advertise: 'hub.example.com' },
    is: { advertised: 'hub.example.com', near: '10.0.0.5', hosts: ['hub.example.com', '10.0.0.5'], isOpen: true },
  },
  {
    it: 'all addresses: programs of this machine use loopback',
    flags: { bind: '0.0.0.0', advertise: 'hub.example.com' },
    is: { address: '0.0.0.0', near: '127.0.0.1', hosts: ['hub.example.com', '127.0.0.1'], isOpen: true },
  },
  {
    it: 'all addresses of version 6',
    flags: { bind: '::', advertise: 'fd00::5' },
    is: { address: '::', advertised: 'fd00::5', near: '::1', isOpen: true },
  },
  { it: 'another loopback address is not open', flags: { bind: '127.0.0.2' }, is: { isOpen: false } },
])('$it', ({ flags, is }) => {
  expect(listenAt(flags)).toMatchObject(is);
});

test.each<{ it: string; flags: ListenFlags; says: string }>([
  { it: 'a name on which nothing listens', flags: { advertise: 'hub' }, says: '--advertise needs --bind' },
  { it: 'all addresses without a name', flags: { bind: '0.0.0.0' }, says: '--bind 0.0.0.0 needs --advertise HOST' },
  { it: 'a name to listen on', flags: { bind: 'hub.example.com' }, says: 'is not an IP address' },
  { it: 'an address with a zone', flags: { bind: 'fe80::1%eth0' }, says: 'is not an IP address' },
  { it: 'a port in the name', flags: { bind: '10.0.0.5', advertise: 'hub:6443' }, says: 'a port is given with --port' },
  { it: 'a URL', flags: { bind: '10.0.0.5', advertise: 'https://hub' }, says: 'is neither a host name' },
  { it: 'all addresses as a name', flags: { bind: '10.0.0.5', advertise: '0.0.0.0' }, says: 'is neither a host name' },
])('refused: $it', ({ flags, says }) => {
  expect(() => listenAt(flags)).toThrow(says);
});

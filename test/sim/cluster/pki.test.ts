import { expect, test } from '@jest/globals';
import { X509Certificate } from 'node:crypto';
import { VirtualClock } from '../../../sim/clock.ts';
import { authority, createCa } from '../../../sim/cluster/pki.ts';

test('an authority that is opened again from its files issues what the first would have', async () => {
  const clock = new VirtualClock();
  const { certPem, keyPem } = await createCa(clock);
  const again = await authority(clock, { certPem, keyPem });
  const issued = new X509Certificate((await again.issue({ commonName: 'n1', organization: 'nodes' })).certPem);
  const ca = new X509Certificate(certPem);
  expect(issued.verify(ca.publicKey)).toBe(true);
  expect(issued.checkIssued(ca)).toBe(true);
  expect(issued.subject).toBe('O=nodes\nCN=n1');
});

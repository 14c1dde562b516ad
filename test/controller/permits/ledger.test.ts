import { expect, test } from '@jest/globals';
import {
  NotLeadingError,
  PermitLedger,
  PermitsLostError,
  PermitsMovedError,
  UnreadablePermitsError,
} from '../../../runtime/controller/permits/ledger.ts';
import { PERMITS_ANNOTATION } from '../../../runtime/controller/permits/entries.ts';
import { UnreachableError } from '../../../runtime/kube/errors.ts';
import { leasesOf } from '../../../runtime/kube/resources.ts';
import { VirtualClock } from '../../../lab/sim/clock.ts';
import { ADMIN, EmbeddedCluster } from '../../../lab/sim/cluster/cluster.ts';
import { intercepted } from '../transports.ts';
import { fleet, NOW, plan, POLICY, UNPROVEN_TOO } from '../plan/fleet.ts';

const { signal } = new AbortController();
const KEY = { shadow: 'brs-n1', nodeUid: 'u1' };

async function ledgerOn(permits: string) {
  const clock = new VirtualClock();
  const random = (): number => 0.5;
  let lost: 'nothing' | 'answers' = 'nothing';
  let puts = 0;
  const transport = intercepted(new EmbeddedCluster({ clock, random }).transport(ADMIN), async ({ method }, go) => {
    const answer = await go();
    if (method === 'PUT') puts += 1;
    if (lost === 'answers' && method === 'PUT') throw new UnreachableError('no answer');
    return answer;
  });
  const leases = leasesOf(transport, 'default');
  await leases.create({
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name: 'brupop-controller', annotations: { [PERMITS_ANNOTATION]: permits } },
    spec: { holderIdentity: 'me' },
  });
  const text = async (): Promise<string | undefined> =>
    (await leases.get('brupop-controller'))?.metadata.annotations?.[PERMITS_ANNOTATION];
  return {
    ledger: new PermitLedger({ leases, identity: 'me', clock, random }),
    twin: new PermitLedger({ leases, identity: 'me', clock, random }),
    other: new PermitLedger({ leases, identity: 'x', clock, random }),
    text,
    lose: (what: typeof lost) => void (lost = what),
    puts: () => puts,
  };
}

test('a list that somebody overwrote stops every start, and is left for a person to mend', async () => {
  const { ledger, text } = await ledgerOn('{"oops"');
  await expect(ledger.load(signal)).rejects.toThrow(UnreadablePermitsError);
  await expect(ledger.take([KEY], signal)).rejects.toThrow(/remove it once no node is being updated/);
  expect(await text()).toBe('{"oops"');
});

test('a permit that was taken is on the Lease, and gone from it once it is free', async () => {
  const { ledger, text } = await ledgerOn('[]');
  await ledger.load(signal);
  await ledger.take([KEY], signal);
  expect(JSON.parse((await text()) ?? '')).toMatchObject([KEY]);
  await ledger.free([KEY], signal);
  expect(await text()).toBe('[]');
});

test('who has said that it keeps the ledgers, and heard no answer, finds it on the Lease and writes nothing anew', async () => {
  const { ledger, lose, puts } = await ledgerOn('[]');
  lose('answers');
  await expect(ledger.keep(signal)).rejects.toThrow(UnreachableError);
  lose('nothing');
  await ledger.keep(signal);
  expect([ledger.isKeeper, puts()]).toEqual([true, 1]);
});

test('in a new term nothing is known of the permits that are found, though this process took them', async () => {
  const { ledger } = await ledgerOn('[]');
  await ledger.load(signal);
  await ledger.take([KEY], signal);
  expect(ledger.permits).toMatchObject([{ writes: 'settled' }]);
  ledger.reset();
  await ledger.load(signal);
  expect(ledger.permits).toMatchObject([{ ...KEY, writes: 'unknown' }]);
});

test.each<[string, (twin: PermitLedger) => Promise<void>]>([
  ['has another permit', (twin) => twin.take([{ shadow: 'brs-n2', nodeUid: 'u2' }], signal)],
  ['has a permit that was taken once more', (twin) => twin.take([KEY], signal)],
  ['has lost a permit', (twin) => twin.free([KEY], signal)],
])('a list that %s since is never taken over: the term ends', async (_how, change) => {
  const { ledger, twin, text } = await ledgerOn('[]');
  await ledger.load(signal);
  await ledger.take([KEY], signal);
  await twin.load(signal);
  await change(twin);
  const before = await text();
  await expect(ledger.free([KEY], signal)).rejects.toThrow(PermitsLostError);
  await expect(ledger.confirm(signal)).rejects.toThrow(PermitsLostError);
  expect(await text()).toBe(before);
  expect(ledger.permits).toMatchObject([KEY]);
});

test('a list that this process has sent without an answer is its own, and nothing is known of its permits', async () => {
  const { ledger, lose, text } = await ledgerOn('[]');
  await ledger.load(signal);
  lose('answers');
  await expect(ledger.take([KEY], signal)).rejects.toThrow(UnreachableError);
  lose('nothing');
  await expect(ledger.confirm(signal)).rejects.toThrow(PermitsMovedError);
  expect(ledger.permits).toMatchObject([{ ...KEY, writes: 'unknown' }]);
  await ledger.free([KEY], signal);
  expect(await text()).toBe('[]');
});

test('a permit is in doubt after a write to its shadow of unknown outcome, and no other is', async () => {
  const { ledger } = await ledgerOn('[]');
  const other = { shadow: 'brs-n2', nodeUid: 'u2' };
  await ledger.load(signal);
  await ledger.take([KEY, other], signal);
  ledger.doubt('brs-n1');
  expect(ledger.permits).toMatchObject([
    { ...KEY, writes: 'unknown' },
    { ...other, writes: 'settled' },
  ]);
});

test('who does not hold the Lease takes nothing', async () => {
  const { other, text } = await ledgerOn('[]');
  await expect(other.take([KEY], signal)).rejects.toThrow(NotLeadingError);
  expect(await text()).toBe('[]');
});

test('as many permits as a plan gives are taken by the API server, however long their names, and leave others an eighth', async () => {
  const names = Array.from({ length: 600 }, (_, index) => `${'n'.repeat(245)}${1000 + index}`);
  const world = fleet(Object.fromEntries(names.map((name) => [name, {}])));
  const { commands, verdicts } = plan(world, { ...POLICY, ...UNPROVEN_TOO, maxConcurrent: { kind: 'unlimited' } }, NOW);
  const starts = commands.filter((command) => command.kind === 'start');
  expect(starts.length).toBeGreaterThan(200);
  const left = verdicts.find(({ reason }) => reason === 'WaitingForSlot');
  expect(left).toMatchObject({ message: 'the list of the nodes that are being updated is full', position: 1 });
  const { ledger, text } = await ledgerOn('[]');
  await ledger.load(signal);
  await ledger.take(starts, signal);
  const list = (await text()) ?? '';
  expect(JSON.parse(list)).toHaveLength(starts.length);
  expect(Buffer.byteLength(list)).toBeLessThan(262_144 * (7 / 8));
});

test('a list that outgrows the Lease is refused as it is, and the permits stay as they were', async () => {
  const { ledger, text } = await ledgerOn('[]');
  const keys = Array.from({ length: 1000 }, (_, index) => ({ shadow: 'n'.repeat(253), nodeUid: `${index}` }));
  await ledger.load(signal);
  await expect(ledger.take(keys, signal)).rejects.toMatchObject({ status: { code: 422 } });
  expect(ledger.permits).toEqual([]);
  expect(await text()).toBe('[]');
});

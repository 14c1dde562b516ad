import { afterEach, describe, expect, test } from '@jest/globals';
import type { ApiAnswer } from '../../runtime/agent/apiserver/client.ts';
import { apiStatusError } from '../../runtime/kube/errors.ts';
import type { KubeRequest } from '../../runtime/kube/transport.ts';
import { CRD_NAME } from '../../runtime/api/shadow/names.ts';
import type { Status } from '../../runtime/api/shadow/model.ts';
import type { FaultName } from '../../lab/sim/hosts/faults.ts';
import { World } from '../apiserver/world.ts';
import { reports } from './hand.ts';
import { join, type Joined } from './joined.ts';
import { World as AgentWorld } from './world.ts';

const MINUTE_MS = 60_000;
const CRD = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${CRD_NAME}`;

interface Crd {
  readonly spec: { readonly versions: readonly { readonly schema: { readonly openAPIV3Schema: object } }[] };
}

/** A CRD of another release, which knows other reasons. */
async function closeReasons(world: World): Promise<void> {
  const { spec } = (await world.get(CRD)) as unknown as Crd;
  const versions = JSON.parse(JSON.stringify(spec.versions)) as never[];
  for (const { schema } of versions as { schema: { openAPIV3Schema: never } }[]) {
    const { properties } = schema.openAPIV3Schema as { properties: { status: { properties: Record<string, never> } } };
    const failure = properties.status.properties['last_failure'] as { properties: Record<string, object> } | undefined;
    if (failure) failure.properties['reason'] = { type: 'string', enum: ['OutOfCheese'] };
  }
  await world.patch(CRD, { spec: { versions } });
}

const writesStatus = ({ method, path }: KubeRequest): boolean => method === 'PATCH' && path.endsWith('/status');
const statusOf = ({ body }: KubeRequest): Partial<Status> => (body as { status?: Partial<Status> }).status ?? {};

/** An admission policy that denies what it does not know. */
function deny(code: number, denies: (status: Partial<Status>) => boolean) {
  return ({ replica: { tap } }: Joined): void => {
    tap.before = (request) => {
      if (!writesStatus(request) || !denies(statusOf(request))) return;
      throw apiStatusError('PATCH', { code, reason: 'Forbidden', message: 'denied by policy' });
    };
  };
}

const CLUSTERS: Readonly<Record<string, (world: World, joined: Joined) => void | Promise<void>>> = {
  'a CRD with a closed list of reasons': closeReasons,
  'an admission policy that answers 403': (_, joined) => deny(403, (status) => status.last_failure != null)(joined),
  'an admission webhook that gives no code, which is 400': (_, joined) =>
    deny(400, (status) => status.last_failure != null)(joined),
};

/** The authorizer's words, as of an apiserver whose role was taken away. */
const NO_RIGHT = apiStatusError('PATCH', {
  code: 403,
  reason: 'Forbidden',
  message:
    'bottlerocketshadows.brupop.bottlerocket.aws "brs-n1" is forbidden: User "system:serviceaccount:a:b" cannot patch resource "bottlerocketshadows/status" in API group "brupop.bottlerocket.aws" in the namespace "a"',
});

let joined: Joined | undefined;
afterEach(() => joined?.end());

const status = async (world: World): Promise<Partial<Status>> => (await world.shadow()).status ?? {};
const statusWrites = ({ cluster }: World, from: number): number =>
  cluster.audit.slice(from).filter(({ verb, subresource }) => verb === 'patch' && subresource === 'status').length;

/** The node `n1`, wanted at 1.39.0, whose update fails; resolves when the agent has begun to say so. */
async function failing(refuse: (typeof CLUSTERS)[string], fault: FaultName): Promise<World> {
  const world = await World.create();
  await world.setStatus({ failed_versions: ['1.30.0'] });
  joined = join(world, ['1.39.0']);
  await refuse(world, joined);
  joined.host.inject(fault, { uses: Infinity });
  await untilFailing(world, joined);
  return world;
}

/** Until the agent says, or tries to say, that its attempt has failed. */
async function untilFailing({ clock }: World, { replica }: Joined): Promise<void> {
  const fails = (request: KubeRequest): boolean =>
    writesStatus(request) && statusOf(request).current_state === 'ErrorReset';
  for (let second = 0; second < 7200 && !replica.tap.requests.some(fails); second++) await clock.advance(1000);
  expect(replica.tap.requests.some(fails)).toBe(true);
}

describe.each(Object.entries(CLUSTERS))('a status that is refused for good, by %s,', (_, refuse) => {
  test.each<[FaultName, Partial<Status>]>([
    ['prepare', { crash_count: 1, failed_versions: ['1.30.0', '1.39.0'] }],
    // Not the release's.
    ['reboot-ignored', { crash_count: 1, failed_versions: ['1.30.0'] }],
  ])(
    'is said without the record after two minutes (%s), so that the node goes back into service',
    async (fault, said) => {
      const world = await failing(refuse, fault);
      await world.clock.advance(115_000);
      expect(await status(world)).not.toMatchObject({ current_state: 'ErrorReset' });
      await world.clock.advance(45_000);
      const { drain: __, ...after } = await status(world);
      expect(after).toEqual({
        current_state: 'ErrorReset',
        current_version: '1.38.0',
        target_version: '1.39.0',
        state_transition_failure_timestamp: expect.any(String),
        ...said,
      });
      const from = world.cluster.audit.length;
      await world.setSpec({ state: 'Idle', version: '1.39.0' });
      await world.clock.advance(30 * MINUTE_MS);
      expect(await status(world)).toMatchObject({ current_state: 'Idle', crash_count: 1 });
      expect([(await world.node()).spec?.unschedulable ?? false, await world.marks()]).toEqual([false, undefined]);
      // Tried whole again at each look for updates, every two minutes.
      expect(statusWrites(world, from)).toBeLessThan(20);
    },
  );
});

test('a failure that is not the release’s is not put down to it while the cluster refuses its record, which is told once it may be', async () => {
  const world = await World.create();
  joined = join(world, ['1.39.0']);
  deny(403, (sent) => sent.last_failure != null)(joined);
  joined.host.inject('reboot-ignored', { uses: Infinity });
  await untilFailing(world, joined);
  await world.clock.advance(3 * MINUTE_MS);
  expect(await status(world)).toMatchObject({ current_state: 'ErrorReset', crash_count: 1, failed_versions: [] });
  await world.setSpec({ state: 'Idle', version: '1.39.0' });
  await world.clock.advance(5 * MINUTE_MS);
  expect(await status(world)).toMatchObject({ current_state: 'Idle', crash_count: 1, failed_versions: [] });
  joined.replica.tap.before = () => undefined;
  await world.clock.advance(5 * MINUTE_MS);
  expect(await status(world)).toMatchObject({ crash_count: 1, last_failure: { reason: 'RebootFailed' } });
  expect((await status(world)).failed_versions).toEqual([]);
});

test('a cluster that refuses the list of failed versions as well is told the older contract, so that the node goes back into service', async () => {
  const world = await World.create();
  joined = join(world, ['1.39.0']);
  deny(422, (sent) => (sent.last_failure ?? sent.failed_versions) != null)(joined);
  joined.host.inject('prepare', { uses: Infinity });
  await untilFailing(world, joined);
  await world.clock.advance(6 * MINUTE_MS);
  const said = await status(world);
  expect(said).toMatchObject({ current_state: 'ErrorReset', crash_count: 1 });
  expect([said.last_failure ?? null, said.failed_versions ?? null]).toEqual([null, null]);
});

test.each([60, 180, 300])(
  'an apiserver without its role for %d s is an outage: the whole status is told after it',
  async (seconds) => {
    const world = await World.create();
    joined = join(world, ['1.39.0']);
    joined.host.inject('reboot-ignored', { uses: Infinity });
    let since = Infinity;
    joined.replica.tap.before = (request) => {
      if (!writesStatus(request) || statusOf(request).current_state !== 'ErrorReset') return;
      since = Math.min(since, world.clock.monotonic());
      if (world.clock.monotonic() - since < seconds * 1000) throw NO_RIGHT;
    };
    for (let minute = 0; minute < 120 && (await status(world)).current_state !== 'ErrorReset'; minute++)
      await world.clock.advance(MINUTE_MS);
    const { last_failure: failure, failed_versions: failed } = await status(world);
    expect([failure?.reason, failed ?? null]).toEqual(['RebootFailed', null]);
  },
);

test('the record of a reboot is never left out: a cluster that refuses it has the attempt fail, and no reboot', async () => {
  const world = await World.create();
  joined = join(world, ['1.39.0']);
  deny(403, (sent) => sent.reboot != null)(joined);
  await world.clock.advance(20 * MINUTE_MS);
  expect(joined.host.requests.get('POST /actions/reboot')).toBeUndefined();
  expect(await status(world)).toMatchObject({
    current_state: 'ErrorReset',
    last_failure: { reason: 'RebootFailed', message: expect.stringContaining('denied by policy') },
  });
  expect((await status(world)).failed_versions ?? null).toBeNull();
});

test('a cluster that refuses every status once the node is drained has it wait drained, and go on when it may', async () => {
  const world = await World.create();
  await world.addPod('web-1');
  joined = join(world, ['1.39.0']);
  for (let second = 0; second < 600 && !(await world.marks())?.since; second++) await world.clock.advance(1000);
  deny(422, () => true)(joined);
  await world.clock.advance(5000);
  await world.endPod('web-1');
  await world.clock.advance(20 * MINUTE_MS);
  const drained = await world.marks();
  expect([(await world.node()).spec?.unschedulable, drained?.drained]).toEqual([true, expect.any(String)]);
  const { host } = joined;
  const reboots = (): number => host.requests.get('POST /actions/reboot') ?? 0;
  expect(reboots()).toBe(0);
  expect(await world.events()).toContain('WriteRefused');
  joined.replica.tap.before = () => undefined;
  for (let second = 0; second < 60 && reboots() === 0; second++) await world.clock.advance(1000);
  expect(reboots()).toBe(1);
  expect((await world.marks())?.id).toBe(drained?.id);
  expect(await status(world)).toMatchObject({ crash_count: 0 });
});

describe('nothing is left out of a status', () => {
  let world: AgentWorld;
  afterEach(() => world.end());

  test.each<ApiAnswer>([
    { kind: 'refused', message: '409' },
    { kind: 'again', message: '503' },
    { kind: 'failed', message: '500' },
    { kind: 'unauthorized', message: '403' },
  ])('for an answer that says nothing of the status itself, however long it stands: %j', async (answer) => {
    world = new AgentWorld();
    world.host.inject('prepare');
    await world.until(() => world.asked('prepare-update') > 2);
    world.operator.answer = (ask) => (ask === 'putStatus' ? answer : undefined);
    for (let minute = 0; minute < 120; minute++) {
      await world.advance(MINUTE_MS);
      // One that is not accepted ends, and the kubelet starts it again.
      for (; world.ends.length > 0; world.ends.pop()) world.startAgent();
    }
    world.operator.answer = () => undefined;
    await world.until(() => reports(world).length > 0);
    expect(world.operator.status).toMatchObject({
      last_failure: { reason: 'PrepareFailed' },
      failed_versions: ['1.39.0'],
    });
  });

  test('that bears the record of a reboot, as it stands: a node at rest goes on, and the record with it', async () => {
    world = new AgentWorld();
    world.operator.holding = true;
    await world.until(() => world.operator.log.at(-1) === 'Idle ->1.39.0');
    const reboot = { boot_id: 'boot-0', version: '1.38.0', requested_at: '2026-01-01T00:00:00Z' };
    world.operator.overwrite({ reboot });
    world.releases.publish({ version: '1.40.0' });
    world.operator.answer = (ask) => (ask === 'putStatus' ? { kind: 'rejected', message: '502: denied' } : undefined);
    await world.advance(10 * MINUTE_MS);
    world.operator.answer = () => undefined;
    await world.until(() => world.operator.status.target_version === '1.40.0');
    expect(world.operator.status.reboot).toEqual(reboot);
  });

  test('for refusals that others break', async () => {
    world = new AgentWorld();
    world.host.inject('prepare');
    await world.until(() => world.asked('prepare-update') > 2);
    const rejected: ApiAnswer = { kind: 'rejected', message: '502: denied' };
    let since = Infinity;
    world.operator.answer = (ask) => {
      if (ask !== 'putStatus') return undefined;
      since = Math.min(since, world.clock.monotonic());
      const minute = Math.floor((world.clock.monotonic() - since) / MINUTE_MS);
      return minute % 2 === 0 ? rejected : { kind: 'again', message: '503' };
    };
    await world.until(() => since < Infinity);
    await world.advance(10 * MINUTE_MS);
    world.operator.answer = () => undefined;
    await world.until(() => reports(world).length > 0);
    expect(world.operator.status.last_failure?.reason).toBe('PrepareFailed');
  });
});

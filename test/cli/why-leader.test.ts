import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Answer } from '../../runtime/cli/command.ts';
import { PLAIN } from '../../runtime/cli/output/terminal.ts';
import { why } from '../../runtime/cli/commands/why.ts';
import { type Manager, routesOf } from '../../runtime/controller/manager.ts';
import { GROUP, MANAGED_LABEL, NAMESPACE } from '../../runtime/api/shadow/names.ts';
import { Stage } from '../controller/stage.ts';
import { bind, createRole, deploy, requestOn, seenOn } from './deployed.ts';

const CLOSED = { SCHEDULER_CRON_EXPRESSION: '* * 2 * * * *' };

let stage: Stage;
let asked: string[];
beforeEach(async () => {
  stage = await Stage.with('a', 'b');
  asked = [];
});
afterEach(() => stage.end());

/** The Service of the controllers, which leads to each of them in turn. */
function serve(...controllers: readonly Manager[]): void {
  stage.cluster.setServices(async ({ namespace, name, path }) => {
    const manager = controllers[asked.length % controllers.length]!;
    asked.push(`${namespace}/${name}${path}`);
    const { status, body } = await routesOf(manager)[path]!();
    return { status, body: JSON.parse(body) };
  });
}

const lines = (answer: Answer): readonly string[] => answer.lines(PLAIN);

describe('where the leader answers', () => {
  test('why says what it says, of the fleet and of a node, and reads no fleet', async () => {
    serve(await deploy(stage, CLOSED));
    await stage.patch('/api/v1/nodes/a', { metadata: { annotations: { [`${GROUP}/hold`]: '' } } });
    await stage.pass();
    const before = stage.cluster.audit.length;
    const fleet = await why.run(requestOn(stage));
    const node = await why.run(requestOn(stage, ['a']));
    const read = stage.cluster.audit.slice(before).map(({ resource, subresource }) => [resource, subresource]);
    expect(read).toEqual([
      ['services', 'proxy'],
      ['services', 'proxy'],
    ]);
    expect(asked[0]).toBe(`${NAMESPACE}/http:brupop-controller-server:main/plan`);
    expect(fleet.value).toMatchObject({ source: 'leader', notKnown: [], nodes: [{ reason: 'Held' }, {}] });
    expect(lines(node)).toEqual([
      'a  Held  the node bears the hold annotation',
      '  then OutsideWindow: updates start again at 2026-01-01T02:00:00Z',
    ]);
  });

  test('what it keeps in its memory alone is known, as a plan that is made elsewhere could not', async () => {
    const controller = await deploy(stage, { MAX_CONCURRENT_UPDATE: '2' });
    serve(controller);
    const { verdicts } = controller.preview();
    const { value } = await why.run(requestOn(stage));
    expect(value).toMatchObject({ nodes: verdicts.map(({ node, reason }) => ({ node, reason })) });
  });

  test('other commands plan on what it plans on, its memory too, and read no fleet either', async () => {
    const controller = await deploy(stage, { MAX_CONCURRENT_UPDATE: '2', ...CLOSED });
    await stage.loseAgent('b');
    await stage.pass(16 * 60_000);
    serve(controller);
    const before = stage.cluster.audit.length;
    const { snapshot } = await seenOn(stage);
    const read = new Set(stage.cluster.audit.slice(before).map(({ resource }) => resource));
    expect(read).not.toContain('nodes');
    expect(read).not.toContain('bottlerocketshadows');
    const { policies: _, ...known } = controller.preview().snapshot;
    expect(snapshot).toEqual({ ...known, policies: expect.anything() });
    expect(snapshot.silentSince).toEqual(new Map([['b', expect.any(Number)]]));
  });

  test('a controller that stands by is asked again until the leader answers', async () => {
    const leader = await deploy(stage, CLOSED);
    const standby = stage.start();
    await stage.pass();
    serve(standby, leader);
    expect((await why.run(requestOn(stage))).value).toMatchObject({ source: 'leader' });
    expect(asked).toHaveLength(2);
  });

  test('a node that is not managed is told from one that is not there', async () => {
    serve(await deploy(stage, CLOSED));
    await stage.patch('/api/v1/nodes/b', {
      metadata: { labels: { [MANAGED_LABEL]: null } },
    });
    await stage.pass();
    const answer = await why.run(requestOn(stage, ['a', 'b', 'nobody']));
    expect(lines(answer).filter((line) => /^[bn]/.test(line))).toEqual([
      expect.stringMatching(/^b {2}is not managed/),
      'nobody  is no node of the cluster',
    ]);
  });
});

describe('where it does not, the same plan is made here, which is said, with what it wrote last', () => {
  const here = async (reason: string): Promise<void> => {
    const answer = why.run(requestOn(stage, ['a']));
    await stage.pass(3000);
    expect((await answer).value).toMatchObject({ source: 'here' });
    expect(lines(await answer)).toEqual([
      `not known: the leader's own plan: ${reason}; this one is made here`,
      'a  OutsideWindow  updates start again at 2026-01-01T02:00:00Z (in 1 h 59 min)',
      expect.stringMatching(/^ {2}by its condition OutsideWindow: .* ago$/),
    ]);
  };

  test('because nothing listens', async () => {
    await deploy(stage, CLOSED);
    await here('it did not answer (503)');
  });

  test('because it hangs', async () => {
    await deploy(stage, CLOSED);
    stage.cluster.setServices(() => new Promise(() => undefined));
    await here('it did not answer in time');
  });

  test('because it is of another version', async () => {
    await deploy(stage, CLOSED);
    stage.cluster.setServices(async () => ({ status: 200, body: { leading: true, verdicts: [] } }));
    await here('the controller is version older, and this is 0.1.0');
  });

  test('because nobody leads', async () => {
    const controller = await deploy(stage, CLOSED);
    const report = JSON.parse((await routesOf(controller)['/plan']!()).body);
    stage.cluster.setServices(async () => ({ status: 200, body: { ...report, leading: false, leader: undefined } }));
    await here('nobody leads');
  });

  test('because the user may not ask', async () => {
    await deploy(stage, CLOSED);
    const resources = ['nodes', 'bottlerocketshadows', 'deployments', 'pods', 'leases'];
    await createRole(stage, {
      metadata: { name: 'reads' },
      rules: [{ apiGroups: ['*'], resources, verbs: ['get', 'list'] }],
    });
    await bind(stage, { kind: 'User', name: 'eve' }, 'reads');
    const transport = stage.cluster.transport({ username: 'eve', groups: ['system:authenticated'] });
    const { value } = await why.run(requestOn(stage, ['a'], { user: 'eve', transport }));
    const { notKnown } = value as { readonly notKnown: readonly string[] };
    expect(notKnown[0]).toMatch(/^the leader's own plan: you may not ask it \(.*"services\/proxy"/);
  });
});

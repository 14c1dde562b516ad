import { afterEach, describe, expect, test } from '@jest/globals';
import { ConflictError, UnreachableError } from '../../runtime/kube/errors.ts';
import type { KubeRequest, KubeTransport } from '../../runtime/kube/transport.ts';
import { routesOf } from '../../runtime/controller/manager.ts';
import { MARKS_ANNOTATION } from '../../runtime/api/marks/names.ts';
import { HOLD_ANNOTATION } from '../../runtime/api/shadow/names.ts';
import { Stage } from './stage.ts';
import { intercepted } from './transports.ts';

let stage: Stage;
afterEach(() => stage.end());

const OF_UPDATES = new Set(['UpdateStarted', 'UpdateFinished', 'UpdateFailed', 'UpdateRescued', 'UpdateCalledOff']);
const told = async (): Promise<readonly string[]> => (await stage.events()).filter((reason) => OF_UPDATES.has(reason));

const writesSpec =
  (state: string) =>
  ({ method, body }: KubeRequest): boolean =>
    method === 'PATCH' && (body as { spec?: { state?: string } }).spec?.state === state;
const patchesNode = ({ method, path }: KubeRequest): boolean => method === 'PATCH' && path === '/api/v1/nodes/a';

/** Loses the answer, or the whole request, of the first that `fits`. */
function losing(what: 'answer' | 'request', fits: (request: KubeRequest) => boolean): KubeTransport {
  let lost = false;
  return intercepted(stage.transport, async (request, go) => {
    if (lost || !fits(request)) return go();
    lost = true;
    if (what === 'answer') await go();
    throw new UnreachableError('timed out');
  });
}

describe.each(['answer', 'request'] as const)('where the %s is lost', (what) => {
  test('a start is told once', async () => {
    stage = await Stage.with('a', 'b');
    await stage.report('b', { target_version: '1.0.0' });
    stage.start({ transport: losing(what, writesSpec('StagedAndPerformedUpdate')) });
    await stage.pass(5000);
    expect(await stage.spec('a')).toBe('StagedAndPerformedUpdate 1.1.0');
    expect(await told()).toEqual(['UpdateStarted']);
  });

  test('the end of an update is told and counted once', async () => {
    stage = await Stage.with('a', 'b');
    const fits = (request: KubeRequest): boolean => writesSpec('Idle')(request) && request.path.endsWith('/brs-a');
    const controller = stage.start({ transport: losing(what, fits) });
    await stage.pass();
    await stage.update('a');
    await stage.pass(5000);
    expect(await told()).toEqual(['UpdateStarted', 'UpdateFinished', 'UpdateStarted']);
    const { body } = await routesOf(controller)['/metrics']!();
    expect(body).toContain('brupop_controller_updates_total{result="succeeded"} 1');
  });

  test('an update that is called off is told and counted once', async () => {
    stage = await Stage.with('a', 'b');
    const controller = stage.start({ transport: losing(what, writesSpec('Idle')) });
    await stage.pass();
    await stage.patchNode('a', { metadata: { annotations: { [HOLD_ANNOTATION]: '' } } });
    await stage.report('a', { current_state: 'StagedAndPerformedUpdate' });
    await stage.pass(5000);
    expect([await stage.spec('a'), await stage.permits()]).toEqual(['Idle 1.1.0', ['brs-a']]);
    expect(await told()).toEqual(['UpdateStarted', 'UpdateCalledOff']);
    const { body } = await routesOf(controller)['/metrics']!();
    expect(body).toContain('brupop_controller_updates_total{result="called_off"} 1');
    expect(body).toContain('brupop_controller_updates_total{result="failed"} 0');
  });

  test.each([
    ['the spec', writesSpec('Idle'), false],
    ['the node', patchesNode, true],
  ] as const)('a rescue is told once: %s', async (_which, fits, marked) => {
    stage = await Stage.with('a', 'b');
    stage.start({ transport: losing(what, fits) });
    await stage.pass();
    if (marked) {
      const marks = JSON.stringify({ id: 'm', since: null, boot: null, owns: [] });
      await stage.patchNode('a', { metadata: { annotations: { [MARKS_ANNOTATION]: marks } } });
    }
    await stage.loseAgent('a');
    await stage.pass(1_200_000);
    expect(await stage.spec('a')).toMatch(/^Idle/);
    expect((await told()).filter((reason) => reason === 'UpdateRescued')).toEqual(['UpdateRescued']);
  });

  test('a rescue of a node that is back from its reboot without its agent is told and counted once', async () => {
    stage = await Stage.with('a', 'b');
    let isBack = false;
    const controller = stage.start({ transport: losing(what, (request) => isBack && patchesNode(request)) });
    await stage.pass();
    await stage.askForReboot('a');
    await stage.pass();
    await stage.loseAgent('a');
    const nodeInfo = { osImage: 'Bottlerocket OS 1.1.0 (aws-k8s-1.33)', bootID: 'boot-2' };
    await stage.patch('/api/v1/nodes/a/status', { status: { nodeInfo } });
    isBack = true;
    await stage.pass(1_200_000);
    expect((await told()).filter((reason) => reason === 'UpdateRescued')).toEqual(['UpdateRescued']);
    const { body } = await routesOf(controller)['/metrics']!();
    expect(body).toContain('brupop_controller_updates_total{result="rescued"} 1');
  });
});

test('a start that somebody else was faster than is not told', async () => {
  stage = await Stage.with('a', 'b');
  let overtaken = false;
  const transport = intercepted(stage.transport, async (request, go) => {
    if (overtaken || !writesSpec('StagedAndPerformedUpdate')(request)) return go();
    overtaken = true;
    await stage.report('a', { target_version: '1.0.0' });
    await expect(go()).rejects.toThrow(ConflictError);
    throw new UnreachableError('timed out');
  });
  stage.start({ transport });
  await stage.pass(60_000);
  expect(await stage.specs('a', 'b')).toEqual(['Idle', 'StagedAndPerformedUpdate 1.1.0']);
  expect(await told()).toEqual(['UpdateStarted']);
});

test('a rescue of which the node cache has not heard is not told again', async () => {
  stage = await Stage.with('a', 'b');
  const held: (() => void)[] = [];
  let isLagging = false;
  const lagging: KubeTransport = {
    request: (request) => stage.transport.request(request),
    async *watch(request) {
      for await (const event of stage.transport.watch(request)) {
        if (isLagging && request.path === '/api/v1/nodes') await new Promise<void>((resolve) => held.push(resolve));
        yield event;
      }
    },
  };
  stage.start({ transport: lagging });
  await stage.pass();
  const marks = JSON.stringify({ id: 'm', since: null, boot: null, owns: [] });
  await stage.patchNode('a', { metadata: { annotations: { [MARKS_ANNOTATION]: marks } } });
  await stage.loseAgent('a');
  await stage.pass(800_000);
  isLagging = true;
  await stage.pass(600_000);
  expect((await told()).filter((reason) => reason === 'UpdateRescued')).toEqual(['UpdateRescued']);
  isLagging = false;
  for (const go of held) go();
});

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { ADMIN } from '../../lab/sim/cluster/cluster.ts';
import type { Rollout } from '../../lab/sim/rollout.ts';
import { applyAll, type Manifest } from '../../lab/sim/world/manifests.ts';
import { shadowName } from '../../runtime/api/shadow/names.ts';
import { brupop } from '../cli/served.ts';
import { read } from '../documents.ts';
import { shared } from '../folder.ts';
import { noKubectl, shell } from '../shell.ts';
import { until, withRollout } from './support.ts';

/** Four troubles of a rollout, each ended by the commands that docs/operating.md shows for it, and with what these print. */

const when = noKubectl ? describe.skip : describe;

/** The commands under a symptom. */
function commandsFor(symptom: string): readonly string[] {
  const [, section = ''] = read('docs/operating.md').split(`### ${symptom}\n`);
  const [, block = ''] = /```sh\n([\s\S]*?)```/.exec(section) ?? [];
  const lines = block.split('\n').map((line) => line.replace(/\s+#.*/, ''));
  return lines.filter((line) => line.startsWith('kubectl '));
}

/** A reader who goes through the commands, and fills in what the output of those before has told. */
class Reader {
  readonly #commands: string[];
  readonly #kubeconfig: string;

  constructor(symptom: string, kubeconfig: string) {
    this.#commands = [...commandsFor(symptom)];
    expect(this.#commands.length).toBeGreaterThan(0);
    expect(this.#commands.length).toBeLessThanOrEqual(3);
    this.#kubeconfig = kubeconfig;
  }

  /** Gives the next command. @returns what it prints, in one line */
  async next(known: Readonly<Record<string, string>> = {}): Promise<string> {
    const [command = 'no further command'] = this.#commands.splice(0, 1);
    const given = command.replaceAll(/\b[A-Z]{3,}\b/g, (name) => known[name] ?? name);
    const { code, out, err } = given.startsWith('kubectl brupop ')
      ? await brupop(given.split(' ').slice(2), { env: { HOME: shared, KUBECONFIG: this.#kubeconfig } })
      : await this.#kubectl(given);
    expect({ given, code: code === 3 ? 0 : code, err: code === 0 ? '' : err }).toEqual({ given, code: 0, err: '' });
    return out.replaceAll(/\s+/g, ' ');
  }

  async #kubectl(command: string) {
    const { code, stdout, stderr } = await shell(command, { kubeconfig: this.#kubeconfig, home: shared });
    return { code, out: stdout, err: stderr };
  }

  /** Each of them was needed. */
  done(): void {
    expect(this.#commands).toEqual([]);
  }
}

/** The manifests with other values of variables. */
const withEnv =
  (values: Readonly<Record<string, string>>) =>
  (manifests: readonly Manifest[]): Manifest[] =>
    JSON.parse(JSON.stringify(manifests), (_, one) =>
      typeof one?.name === 'string' && one.name in values && 'value' in one ? { ...one, value: values[one.name] } : one,
    );

interface Trouble {
  readonly symptom: string;
  /** No more than it takes: each brings an agent, and pods that move on. @default 1 */
  readonly nodes?: number;
  /** Of each. */
  readonly fault?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** A rollout, and somebody who reads of its trouble. */
function withTrouble(
  { symptom, nodes = 1, fault, env = {} }: Trouble,
  use: (rollout: Rollout, reader: Reader) => Promise<void>,
): Promise<void> {
  const faults = new Map(fault ? Array.from({ length: nodes }, (_, index) => [`node-${index + 1}`, fault]) : []);
  return withRollout({ options: { nodes, faults }, edit: withEnv(env) }, async (rollout) => {
    const kubeconfig = join(shared, symptom.replaceAll(' ', '-'));
    await writeFile(kubeconfig, rollout.world.served.kubeconfig(ADMIN));
    const reader = new Reader(symptom, kubeconfig);
    await use(rollout, reader);
    reader.done();
  });
}

const shadowOf = ({ recorder }: Rollout, node: string) => recorder.shadows.get(shadowName(node));
/** The nodes with a verdict. */
const has = ({ recorder }: Rollout, verdict: string): readonly string[] =>
  [...recorder.shadows].flatMap(([name, { status }]) =>
    status?.conditions?.some(({ reason }) => reason === verdict) ? [name.replace('brs-', '')] : [],
  );
const runs = (rollout: Rollout, node: string, version: string) =>
  until(rollout, () => {
    const { spec, status } = shadowOf(rollout, node) ?? {};
    return status?.current_version === version && spec?.state === 'Idle';
  });

const STORIES: Readonly<Record<string, () => Promise<void>>> = {
  'a host that cannot reach its repository is named with what to open': () =>
    withTrouble(
      {
        symptom: 'A host cannot look for updates',
        fault: 'repository-gone',
        env: { CHECK_FAILED_AFTER_IN_SEC: '1', UPDATE_CHECK_INTERVAL_IN_SEC: '1' },
      },
      async (rollout, reader) => {
        await until(rollout, () => has(rollout, 'CannotLookForUpdates').includes('node-1'));
        expect(await reader.next()).toMatch(/NEEDS YOU node-1 CannotLookForUpdates/);
        expect(await reader.next()).toContain('https://updates.bottlerocket.aws');
        rollout.world.nodes.get('node-1')?.host.clear('repository-gone');
        await runs(rollout, 'node-1', '1.39.0');
        await until(rollout, () => has(rollout, 'UpToDate').includes('node-1'));
        expect(await reader.next({ NODE: 'node-1' })).toContain('node-1 UpToDate');
      },
    ),
  'a drain that hangs goes on once the pod is deleted that status names': () =>
    withTrouble({ symptom: 'A drain hangs' }, async (rollout, reader) => {
      await until(rollout, () => shadowOf(rollout, 'node-1') !== undefined);
      const metadata = { name: 'guard', namespace: 'shop', labels: { app: 'guard' } };
      const selector = { matchLabels: metadata.labels };
      await applyAll(rollout.world.transport, [
        { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata, spec: { minAvailable: 1, selector } },
        {
          apiVersion: 'v1',
          kind: 'Pod',
          metadata,
          spec: { nodeName: 'node-1', containers: [{ name: 'a', image: 'a' }] },
        },
      ]);
      // On the way, a replica of the apiserver waits for its successor.
      await until(
        rollout,
        () => shadowOf(rollout, 'node-1')?.status?.drain?.blocked_by?.join().includes('guard') === true,
      );
      const [, NAMESPACE = '', POD = ''] = /\(pod (shop)\/([\w-]+)\)/.exec(await reader.next()) ?? [];
      expect(await reader.next({ POD, NAMESPACE })).toContain('"guard"');
      await runs(rollout, 'node-1', '1.39.0');
    }),
  'a halted release goes on once the failure is taken back of a node that was at fault': () =>
    withTrouble(
      {
        symptom: 'The rollout halted',
        nodes: 2,
        fault: 'boot',
        env: { MAX_FAILED_UPDATE: '1' },
      },
      async (rollout, reader) => {
        await until(rollout, () => has(rollout, 'RolloutHalted').length > 0);
        const [other = ''] = has(rollout, 'RolloutHalted');
        for (const { host } of rollout.world.nodes.values()) host.clear('boot');
        const [, VERSION = '', NODE = ''] =
          /NEEDS YOU:? (\S+) \(.*?\) is halted: .*: (\S+) BootFailed/.exec(await reader.next()) ?? [];
        expect(await reader.next({ NODE })).toContain('BootFailed');
        expect(await reader.next({ VERSION, NODE })).toContain(NODE);
        await runs(rollout, other, '1.39.0');
      },
    ),
  'a node that is lost gives its permit back once its Node is deleted': () =>
    // Of two, the last one could not be drained: its workload's budget wants another node.
    withTrouble({ symptom: 'A node did not come back', nodes: 3, fault: 'no-return' }, async (rollout, reader) => {
      await until(rollout, () => has(rollout, 'NotReturned').length > 0);
      for (const { host } of rollout.world.nodes.values()) host.clear('no-return');
      const [, NODE = ''] = /NEEDS YOU (\S+) NotReturned/.exec(await reader.next()) ?? [];
      expect(await reader.next({ NODE })).toContain('NotReturned');
      await reader.next({ NODE });
      await runs(rollout, NODE === 'node-1' ? 'node-2' : 'node-1', '1.39.0');
    }),
};

when(noKubectl ? 'troubles (skipped: no kubectl on the PATH)' : 'troubles', () => {
  // One after the other: each has a dozen processes that start.
  test.each(Object.entries(STORIES))('%s', (_, story) => story());
});

import { writeFile } from 'node:fs/promises';
import { COMPONENTS } from '../../api/shadow/names.ts';
import { policiesOf, releasesOf, shadowsOf } from '../../api/resources.ts';
import { leasesOf, nodesOf, podsOf } from '../../kube/resources.ts';
import { rfc3339 } from '../../lib/clock.ts';
import { VERSION } from '../../lib/version.ts';
import { type Cluster, type Command, type CommandRequest, RefusedCommandError } from '../command.ts';
import { workloadsOf } from '../deployed-settings.ts';
import { explain } from '../errors.ts';
import { readLogs } from '../logs/pod-logs.ts';
import { OUTPUT_VERSION } from '../output/output.ts';
import { selecting } from '../reading.ts';
import { withoutSecrets } from '../report/secrets.ts';
import { doctor } from './doctor.ts';
import { leftovers } from './leftovers.ts';
import { serverPods } from './logs.ts';
import { planCommand } from './plan.ts';
import { releases } from './releases.ts';
import { status } from './status.ts';
import { history } from './timeline.ts';
import { why } from './why.ts';

/** Most agents whose logs are taken, of the nodes that need somebody. */
const MOST_AGENTS = 20;
const LOGS = { sinceMs: 3_600_000, most: 5000 };

export const report: Command = {
  name: 'report',
  args: '',
  summary: 'write what is known into one file, for somebody who helps',
  details: `The file is JSON: what the commands that only read say, the operator's objects and all Nodes, and its logs of an hour (of agents, those on up to
${MOST_AGENTS} nodes that need you). Secrets and ConfigMaps are not read. Left out are the values of variables that are not the operator's settings, tokens,
and users in addresses. Names of nodes, pods, images and people remain: look through it before you pass it on.`,
  options: {
    filename: { type: 'string', short: 'f', value: 'FILE', help: 'by default brupop-report-TIME.json in this folder' },
  },
  maxArgs: 0,
  async run(request) {
    const cluster = await request.connect();
    const at = rfc3339(request.clock.now());
    const file = String(request.values['filename'] ?? `brupop-report-${at.replaceAll(':', '')}.json`);
    const parts = await contentsOf(request, cluster);
    const contents = withoutSecrets({ apiVersion: OUTPUT_VERSION, at, program: VERSION, ...parts });
    const text = `${JSON.stringify(contents, null, 1)}\n`;
    await writeFile(file, text, { flag: 'wx', mode: 0o600 }).catch((cause: unknown) => {
      throw new RefusedCommandError(`${file} cannot be written, or is there already`, { cause });
    });
    const kb = Math.ceil(Buffer.byteLength(text) / 1000);
    const failed = Object.entries({ ...parts.commands, ...parts.objects }).flatMap(([name, one]) =>
      'error' in one ? [`not in it: ${name}: ${one.error}`] : [],
    );
    return {
      value: { file, kb, contains: Object.keys({ ...parts.commands, ...parts.objects, logs: 0 }), notKnown: failed },
      lines: () => [
        `${file} (${kb} KB) has what ${Object.keys(parts.commands).join(', ')} say; ${Object.keys(parts.objects).join(', ')}; logs of an hour.`,
        'No Secret was read; values of foreign variables, tokens and users in addresses are left out. Names are in it: look through it before you pass it on.',
        ...failed,
      ],
    };
  },
};

type Part = { readonly error: string } | object;

async function contentsOf(request: CommandRequest, cluster: Cluster) {
  const asked = { ...request, names: [], values: {}, connect: async () => cluster };
  const commands: Record<string, Part> = {};
  // One after the other: each reads the whole fleet.
  for (const command of [status, why, planCommand, doctor, releases, leftovers, history])
    commands[command.name] = await orError(command.run(asked).then(({ value }) => value));
  const objects = await objectsOf(cluster);
  return { commands, objects, logs: await orError(logsOf(cluster, troubledIn(commands['status']))) };
}

const orError = (reading: Promise<object>): Promise<Part> =>
  reading.catch((error: unknown) => ({ error: explain(error) }));

async function objectsOf(cluster: Cluster): Promise<Readonly<Record<string, Part>>> {
  const { transport, namespace } = cluster;
  const lists = {
    nodes: nodesOf(transport),
    shadows: shadowsOf(transport, namespace),
    policies: policiesOf(transport),
    bottlerocketreleases: releasesOf(transport),
    deployments: workloadsOf(cluster, 'deployments'),
    daemonsets: workloadsOf(cluster, 'daemonsets'),
    pods: podsOf(transport, namespace),
    leases: leasesOf(transport, namespace),
  };
  const read = Object.entries(lists).map(async ([name, list]) => [name, await orError(list.list())] as const);
  return Object.fromEntries(await Promise.all(read));
}

function troubledIn(said: Part = {}): ReadonlySet<string> {
  const { needsYou = [] } = said as { readonly needsYou?: readonly { readonly nodes: readonly string[] }[] };
  return new Set(needsYou.flatMap(({ nodes }) => nodes).slice(0, MOST_AGENTS));
}

async function logsOf(cluster: Cluster, troubled: ReadonlySet<string>): Promise<object> {
  const agents = await podsOf(cluster.transport, cluster.namespace).list(selecting(COMPONENTS.agent));
  const chosen = agents.filter(({ spec }) => troubled.has(spec?.nodeName ?? ''));
  return readLogs(cluster, [...(await serverPods(cluster)), ...chosen], LOGS);
}

import { COMPONENT_LABEL, COMPONENTS } from '../../api/shadow/names.ts';
import type { Pod } from '../../kube/objects.ts';
import { onNode, podsOf } from '../../kube/resources.ts';
import { type Answer, type Cluster, type Command, durationOf, EXIT, RefusedCommandError } from '../command.ts';
import { type LogLine, type Logs, readLogs } from '../logs/pod-logs.ts';
import { unknownLines } from '../output/output.ts';
import { paint } from '../output/terminal.ts';
import { selecting } from '../reading.ts';

const DEFAULT_SINCE = '1h';
/** Most lines of each container. */
const MOST = 20_000;

export const logs: Command = {
  name: 'logs',
  args: 'NODE',
  summary: "print a node's agent, apiserver and controller, merged by time",
  details: `Of the apiserver and the controller only the lines that name the node. The times are those of the clocks where the pods run. Of a container that
has restarted, its log from before is read too.`,
  options: {
    since: { type: 'string', value: 'DURATION', help: `only what is newer, e.g. 10m; by default ${DEFAULT_SINCE}` },
  },
  minArgs: 1,
  maxArgs: 1,
  async run({ names: [name = ''], values, connect }) {
    const sinceMs = durationOf('since', String(values['since'] ?? DEFAULT_SINCE));
    const cluster = await connect();
    const [agents, servers] = await Promise.all([
      podsOf(cluster.transport, cluster.namespace).list({
        ...selecting(COMPONENTS.agent),
        fieldSelector: onNode(name),
      }),
      serverPods(cluster),
    ]);
    const read = await readLogs(cluster, [...agents, ...servers], { sinceMs, most: MOST });
    const missing = agents.length === 0 ? [`what the agent of ${name} wrote: no such pod is there`] : [];
    const lines = read.lines.filter(({ component, text }) => component === COMPONENTS.agent || isNamed(name, text));
    if (agents.length === 0 && lines.length === 0)
      throw new RefusedCommandError(
        [`there is no agent on ${name}, and no line that names it`, ...read.unknown].join('\n'),
      );
    return answerOf(name, { lines, unknown: [...missing, ...read.unknown] });
  },
};

/** The pods of the controller and the apiserver. */
export async function serverPods({ transport, namespace }: Cluster): Promise<readonly Pod[]> {
  const labelSelector = `${COMPONENT_LABEL} in (${COMPONENTS.controller},${COMPONENTS.apiserver})`;
  return podsOf(transport, namespace).list({ labelSelector });
}

/** Whether a line names the node or its shadow, and not one whose name only begins or ends alike. */
function isNamed(name: string, text: string): boolean {
  const literal = name.replaceAll(/[^\w-]/g, String.raw`\$&`);
  return new RegExp(String.raw`(?<![\w.-])(brs-)?${literal}(?![\w-]|\.\w)`).test(text);
}

function answerOf(node: string, { lines, unknown }: Logs): Answer {
  return {
    value: { node, notKnown: unknown, lines },
    lines: (terminal) => [
      ...unknownLines(unknown, terminal),
      ...lines.map((line) => `${line.at}  ${paint(terminal, 'head', calledOf(line))}  ${line.text}`),
    ],
    exitCode: lines.length === 0 && unknown.length > 0 ? EXIT.failed : EXIT.ok,
  };
}

/** As people call them. */
const calledOf = ({ component }: LogLine): string => component.replace('brupop-', '').padEnd('controller'.length);

import type { Pod } from '../../kube/objects.ts';
import { COMPONENT_LABEL, COMPONENTS, MANAGED_LABEL, MANAGED_LABEL_VALUE } from '../../api/shadow/names.ts';
import { viewOfAgent } from '../../controller/seeing/views.ts';
import type { NodeView } from '../../controller/plan/facts/snapshot.ts';
import type { Facts } from './facts.ts';
import { type DoctorFinding, namesText, ok, problem, unknown } from './finding.ts';
import { lookAt, whyNotReady } from './pods.ts';

type Labelled = Pick<NodeView, 'name' | 'managed' | 'joinable'>;

/** Checks that nodes are labelled for updates. */
export function labelFindings(nodes: readonly Labelled[]): readonly DoctorFinding[] {
  const others = nodes.filter(({ managed, joinable }) => joinable && !managed).map(({ name }) => name);
  const isNone = nodes.every(({ managed }) => !managed);
  const bottlerocket =
    others.length > 0 ? `: Bottlerocket runs on ${namesText(others)}` : ', and none runs Bottlerocket';
  if (isNone) return [problem('nodes', `no node is labelled for updates${bottlerocket}`, labelText(others))];
  if (others.length === 0) return [ok('nodes', 'every node that runs Bottlerocket is labelled for updates')];
  const says = `Bottlerocket runs on nodes that are not labelled, so that nothing updates them: ${namesText(others)}`;
  return [unknown('nodes', says, `If that is not meant: ${labelText(others)}`)];
}

const labelText = ([first = 'NODE']: readonly string[]): string =>
  `\`kubectl label node ${first} ${MANAGED_LABEL}=${MANAGED_LABEL_VALUE}\``;

/** Checks that each labelled node that is Ready has a running agent, and that running agents have registered their nodes. */
export function agentFindings({ seen, pods }: Pick<Facts, 'seen' | 'pods'>): readonly DoctorFinding[] {
  const { snapshot, plan } = seen;
  const managed = snapshot.nodes.filter((node) => node.managed);
  if (managed.length === 0) return [];
  if (pods.refused !== undefined) return [unknown('agents', `you may not list the agents' pods (${pods.refused})`)];
  const agents = pods.value.filter(({ metadata }) => metadata.labels?.[COMPONENT_LABEL] === COMPONENTS.agent);
  const running = new Set(agents.map(viewOfAgent).flatMap((one) => (one.running ? [one.node] : [])));
  const ready = managed.filter((node) => node.ready).map(({ name }) => name);
  const without = ready.filter((name) => !running.has(name));
  const registered = new Set(snapshot.shadows.map(({ name }) => name));
  const unheard = managed.filter(({ name, shadowName }) => running.has(name) && !registered.has(shadowName));
  const says = `an agent runs on each of the ${ready.length} labelled nodes that are Ready`;
  return [
    ...(without.length === 0 ? [ok('agents', says)] : [missing(agents, without)]),
    ...unregistered(
      agents,
      unheard.map(({ name }) => name),
    ),
    ...hostFindings(snapshot.shadows),
    ...sightFindings(plan.verdicts),
  ];
}

function missing(agents: readonly Pod[], nodes: readonly string[]): DoctorFinding {
  const found = nodes.map((name) => [name, on(agents, [name])[0]] as const);
  const named = found.map(([name, pod]) => `${name} (${pod ? `${pod.metadata.name}: ${whyNotReady(pod)}` : 'no pod'})`);
  const pods = found.flatMap(([, pod]) => pod ?? []);
  const todo = pods.length > 0 ? lookAt(pods) : 'Look for taints that the DaemonSet does not tolerate, and for quotas.';
  return problem('agents', `no agent runs on ${namesText(named)}`, todo);
}

function unregistered(agents: readonly Pod[], nodes: readonly string[]): readonly DoctorFinding[] {
  if (nodes.length === 0) return [];
  return [problem('agents', `agents run and have not registered ${namesText(nodes)}`, unheardText(on(agents, nodes)))];
}

const unheardText = (pods: readonly Pod[]): string =>
  `They do not reach the apiserver: look at its pods, its Service and NetworkPolicies. ${lookAt(pods)}`;

function on(agents: readonly Pod[], nodes: readonly string[]): readonly Pod[] {
  const wanted = new Set<string | undefined>(nodes);
  return agents.filter(({ spec }) => wanted.has(spec?.nodeName));
}

/** Checks for hosts that cannot look for updates. */
function sightFindings(verdicts: Facts['seen']['plan']['verdicts']): readonly DoctorFinding[] {
  const blind = verdicts.filter(({ reason }) => reason === 'CannotLookForUpdates');
  const [first] = blind;
  if (!first) return [];
  const names = namesText(blind.map(({ node }) => node));
  const says = `cannot look for updates: ${names} (${first.node}: ${first.message})`;
  return [problem('hosts', says, TO_OPEN)];
}

const TO_OPEN =
  'Let them reach https://updates.bottlerocket.aws, or the metadata-base-url and targets-base-url of their settings.updates.';

/** Checks for hosts whose update API fails. */
function hostFindings(shadows: Facts['seen']['snapshot']['shadows']): readonly DoctorFinding[] {
  const failing = shadows.filter(
    ({ status }) => (status?.crash_count ?? 0) > 0 && status?.last_failure?.reason === 'HostFailed',
  );
  if (failing.length === 0) return [];
  const says = `the update API of the host failed on ${namesText(failing.map(({ name }) => name.replace(/^brs-/, '')))}`;
  return [
    problem('hosts', says, 'status.last_failure of their shadows says how; a host whose lock hangs needs a reboot.'),
  ];
}

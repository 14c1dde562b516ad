import type { Pod, Workload } from '../../kube/objects.ts';
import { COMPONENT_LABEL, COMPONENTS } from '../../api/shadow/names.ts';
import { viewOfAgent } from '../../controller/seeing/views.ts';
import { containersOf } from '../deployed-settings.ts';
import type { Facts, Part } from './facts.ts';
import { type DoctorFinding, namesText, ok, problem, unknown } from './finding.ts';

/** Checks that the three parts run, and run the same image. */
export function partsFindings({ parts }: Facts): readonly DoctorFinding[] {
  if (parts.refused !== undefined)
    return [unknown('parts', `you may not read the operator's workloads (${parts.refused})`)];
  return [...parts.value.map(partFinding), ...versionFindings(parts.value)];
}

function partFinding({ name, workload }: Part): DoctorFinding {
  if (!workload) return problem('parts', `there is no ${name}`, 'Apply the manifests.');
  if (workload.spec?.replicas === 0) return problem('parts', `${name} is scaled to 0`, 'Apply the manifests.');
  const { ready, wanted } = readiness(workload);
  const says = `${name}: ${ready} of ${wanted} pods are ready`;
  return ready >= wanted
    ? ok('parts', says)
    : problem('parts', says, 'kubectl describe its pods, and read their logs.');
}

/** A DaemonSet counts nodes, a Deployment replicas. */
function readiness({ spec, status }: Workload): { readonly ready: number; readonly wanted: number } {
  if (status?.desiredNumberScheduled != null)
    return { ready: status.numberReady ?? 0, wanted: status.desiredNumberScheduled };
  return { ready: status?.readyReplicas ?? 0, wanted: spec?.replicas ?? 1 };
}

function versionFindings(parts: readonly Part[]): readonly DoctorFinding[] {
  const images = parts.flatMap(({ name, workload }) => {
    const [image] = workload ? containersOf(workload).map((one) => one.image ?? '') : [];
    return image === undefined ? [] : [{ name, image }];
  });
  const kinds = new Set(images.map(({ image }) => image));
  if (kinds.size === 0) return [];
  if (kinds.size === 1) return [ok('versions', `all parts run ${[...kinds].join('')}`)];
  const says = `the parts run different images: ${images.map(({ name, image }) => `${name} ${image}`).join(', ')}`;
  return [problem('versions', says, 'Apply the manifests of one version.')];
}

/** Checks that each labelled node that is Ready has a running agent, and that running agents have registered their nodes. */
export function agentFindings({ seen, pods }: Facts): readonly DoctorFinding[] {
  const { snapshot } = seen;
  const managed = snapshot.nodes.filter((node) => node.managed);
  if (managed.length === 0)
    return [
      problem(
        'agents',
        'no node is labelled for updates',
        'kubectl label node NODE bottlerocket.aws/updater-interface-version=2.0.0',
      ),
    ];
  if (pods.refused !== undefined) return [unknown('agents', `you may not list the agents' pods (${pods.refused})`)];
  const agents = pods.value.filter(({ metadata }) => metadata.labels?.[COMPONENT_LABEL] === COMPONENTS.agent);
  const running = new Set(agents.map(viewOfAgent).flatMap((one) => (one.running ? [one.node] : [])));
  const ready = managed.filter((node) => node.ready).map(({ name }) => name);
  const without = ready.filter((name) => !running.has(name));
  const registered = new Set(snapshot.shadows.map(({ name }) => name));
  const unheard = managed.filter(({ name, shadowName }) => running.has(name) && !registered.has(shadowName));
  return [
    ...(without.length === 0
      ? [ok('agents', `an agent runs on each of the ${ready.length} labelled nodes that are Ready`)]
      : [problem('agents', `no agent runs on ${namesText(without)}`, stuckText(agents, without))]),
    ...(unheard.length === 0
      ? []
      : [
          problem(
            'agents',
            `agents run and have not registered ${namesText(unheard.map(({ name }) => name))}`,
            UNHEARD,
          ),
        ]),
    ...hostFindings(seen.snapshot.shadows),
    ...sightFindings(seen.plan.verdicts),
  ];
}

const UNHEARD =
  'They do not reach the apiserver: look at its pods, its Service, NetworkPolicies and the log of an agent.';

/** Advice for agents that do not run, with what kubelets say of their pods. */
function stuckText(agents: readonly Pod[], nodes: readonly string[]): string {
  const missing = new Set(nodes);
  const reasons = agents
    .filter(({ spec }) => missing.has(spec?.nodeName ?? ''))
    .flatMap(({ status }) => status?.containerStatuses ?? [])
    .flatMap(({ state }) => reasonOf(state?.waiting));
  const said = reasons.length > 0 ? ` Their pods say ${[...new Set(reasons)].join(', ')}.` : '';
  return `Look at the pods of the DaemonSet brupop-agent: taints without toleration, images that cannot be pulled, a socket that is not there.${said}`;
}

const reasonOf = (waiting: object | null | undefined): readonly string[] =>
  waiting && 'reason' in waiting && typeof waiting.reason === 'string' ? [waiting.reason] : [];

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

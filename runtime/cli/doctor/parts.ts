import type { Pod, Workload } from '../../kube/objects.ts';
import { COMPONENT_LABEL, COMPONENTS, CONTROLLER_DEPLOYMENT } from '../../api/shadow/names.ts';
import { containersOf } from '../deployed-settings.ts';
import type { Facts } from './facts.ts';
import { type DoctorFinding, ok, problem, unknown } from './finding.ts';
import { lateOf, lookAt, podsText } from './pods.ts';
import type { Part } from './workloads.ts';

/** Checks that the parts run, and run the same image. */
export function partsFindings({ parts, pods }: Pick<Facts, 'parts' | 'pods'>): readonly DoctorFinding[] {
  if (parts.refused !== undefined)
    return [unknown('parts', `you may not read the operator's workloads (${parts.refused})`)];
  return [
    ...parts.value.map((part) => partFinding(part, pods.value)),
    ...versionFindings(parts.value),
    ...controllerFindings(pods.value),
  ];
}

const APPLY = 'Apply the manifests.';

function partFinding({ name, kind, workload }: Part, pods: readonly Pod[]): DoctorFinding {
  if (!workload) return problem('parts', `there is no ${name}`, APPLY);
  if (workload.spec?.replicas === 0) return problem('parts', `${name} is scaled to 0`, APPLY);
  const { ready, wanted } = readiness(workload);
  const says = `${name}: ${ready} of ${wanted} pods are ready`;
  if (ready >= wanted) return ok('parts', says);
  const late = lateOf(pods.filter((pod) => isOf(pod, workload)));
  if (late.length > 0) return problem('parts', `${says}, not ${podsText(late)}`, lookAt(late));
  return problem('parts', says, `\`kubectl describe ${kind} ${name}\` says why there are no more.`);
}

function isOf({ metadata }: Pod, { spec }: Workload): boolean {
  const wanted = Object.entries(spec?.selector?.matchLabels ?? {});
  return wanted.length > 0 && wanted.every(([key, value]) => metadata.labels?.[key] === value);
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

/** Controllers of two versions at a time: one of them has been put in the place of the other just now. */
function controllerFindings(pods: readonly Pod[]): readonly DoctorFinding[] {
  const controllers = pods.filter(({ metadata }) => metadata.labels?.[COMPONENT_LABEL] === COMPONENTS.controller);
  const images = new Set(controllers.flatMap(({ spec }) => spec?.containers?.[0]?.image ?? []));
  if (images.size < 2) return [];
  return [problem('versions', `controllers of ${images.size} versions run: ${[...images].join(', ')}`, A_MINUTE)];
}

const A_MINUTE = `To go back to an older one: \`kubectl scale deployment ${CONTROLLER_DEPLOYMENT} --replicas 0\`, wait a minute, then apply it. Without the minute, a write of the newer one may still come after it.`;

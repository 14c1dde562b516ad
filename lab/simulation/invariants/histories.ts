import type { KubeObject } from '../../../runtime/kube/objects.ts';
import type { Entry, Scenario } from '../types.ts';
import { MINUTE } from '../units.ts';
import { Picture } from './picture.ts';
import type { Rule } from './rule.ts';

const GROUP = 'brupop.bottlerocket.aws';
export const [OLD, NEW] = ['1.38.0', '1.39.0'];
export const SCENARIO: Scenario = {
  seed: 1,
  nodes: 3,
  stormMs: MINUTE,
  settings: { controller: {}, apiserver: {}, agent: {} },
  policies: { definedAt: undefined, policies: {} },
  releases: [],
  faults: [],
};

function object(name: string, ours: Readonly<Record<string, string | undefined>>, rest: object): KubeObject {
  const said = Object.entries(ours).filter((one): one is [string, string] => one[1] !== undefined);
  const annotations = Object.fromEntries(said.map(([key, value]) => [`${GROUP}/${key}`, value]));
  return { metadata: { name, uid: `uid of ${name}`, resourceVersion: '1', annotations }, ...rest };
}

interface Stated {
  readonly version?: string;
  readonly ready?: boolean;
  readonly marks?: string;
  readonly released?: string;
  readonly cordoned?: boolean;
  readonly labels?: Readonly<Record<string, string>>;
  readonly taints?: readonly string[];
  readonly retry?: string;
}

export function node(
  name: string,
  { version = OLD, ready = true, marks, released, cordoned, labels: more, taints, retry }: Stated = {},
): KubeObject {
  const nodeInfo = { osImage: `Bottlerocket OS ${version} (aws-k8s-1.33)` };
  const conditions = [{ type: 'Ready', status: ready ? 'True' : 'Unknown' }];
  const made = object(
    name,
    { marks, released, retry },
    {
      spec: { unschedulable: cordoned, taints: taints?.map((key) => ({ key, effect: 'NoSchedule' })) },
      status: { nodeInfo, conditions },
    },
  );
  const labels = { 'bottlerocket.aws/updater-interface-version': '2.0.0', 'kubernetes.io/arch': 'amd64', ...more };
  return { ...made, metadata: { ...made.metadata, labels } };
}
export const FAMILY = 'aws-k8s-1.33/amd64';

export interface Said {
  readonly spec?: string;
  readonly reached?: string;
  readonly hint?: string;
  readonly from?: string;
  readonly before?: string;
  readonly finished?: string;
  readonly wish?: object;
  readonly status?: object;
}

export function shadow(
  of: string,
  { spec = 'Idle', reached = 'Idle', hint, from, before, finished, wish, status }: Said = {},
): KubeObject {
  const stage = hint === undefined ? undefined : `${hint} 2026-03-02T00:00:00Z`;
  const ours = { stage, 'updated-from': from, 'version-before': before, 'last-update-finished': finished };
  const made = object(`brs-${of}`, ours, {
    spec: { state: spec, version: NEW, version_wish: wish },
    status: { current_state: reached, current_version: OLD, target_version: NEW, staged: {}, ...status },
  });
  const ownerReferences = [{ apiVersion: 'v1', kind: 'Node', name: of, uid: `uid of ${of}` }];
  return { ...made, metadata: { ...made.metadata, ownerReferences } };
}

export const permit = {
  shadow: 'brs-node-1',
  nodeUid: 'uid of node-1',
  id: 'this attempt',
  version: NEW,
  family: FAMILY,
};
export const OTHER = { ...permit, shadow: 'brs-node-2', nodeUid: 'uid of node-2' };

export const UNLISTED = object('brupop-controller', {}, { spec: { holderIdentity: 'one' } });

export const lease = (list: readonly object[]): KubeObject =>
  object('brupop-controller', { slots: JSON.stringify(list) }, { spec: { holderIdentity: 'one' } });

export const release = (status: object, spec: object = {}): KubeObject =>
  object('a-release', {}, { spec: { family: FAMILY, version: NEW, ...spec }, status });

export const policy = (name: string, spec: object, status?: object): KubeObject =>
  object(`policy-${name}`, {}, { spec: { nodeSelector: {}, ...spec }, status });

export const RESOURCES: Readonly<Record<string, string>> = {
  'brs-': 'bottlerocketshadows',
  node: 'nodes',
  brup: 'leases',
  'a-re': 'bottlerocketreleases',
  poli: 'bottlerocketupdatepolicies',
};

type Written =
  KubeObject | { readonly gone: string } | { readonly byOthers: KubeObject } | { readonly byApiserver: KubeObject };

/**
 * What the last of these writes breaks, ten minutes after the first, others having come between: as a controller makes them, each on what it was.
 * @param processes run from the beginning on
 */
export function broken(
  rule: Rule,
  objects: readonly Written[],
  controller: Readonly<Record<string, string>> = {},
  processes: readonly string[] = [],
): readonly string[] {
  const scenario = { ...SCENARIO, settings: { ...SCENARIO.settings, controller } };
  const picture = new Picture(scenario);
  for (const process of processes) picture.see({ kind: 'process', at: 0, process, event: 'starts' });
  const judge = rule.begin(picture, scenario);
  const stored = new Map<string, KubeObject>();
  const entries = objects.map((written, index): Entry => {
    const { by, after } = authorOf(written);
    const name = 'gone' in after ? after.gone : after.metadata.name;
    const hasOthers = objects.slice(0, index + 1).some((one) => 'byOthers' in one);
    const now = (index === objects.length - 1 ? 10 : hasOthers ? 5 : 0) * MINUTE + index;
    const entry = { kind: 'write', at: now, sentAt: now, by, name, version: '1' } as const;
    const before = stored.get(name);
    const made = 'gone' in after ? undefined : after;
    if (made) stored.set(name, made);
    return { ...entry, resource: RESOURCES[name.slice(0, 4)]!, before, after: made };
  });
  return entries.flatMap((entry) => {
    picture.see(entry);
    return judge.see?.(entry) ?? [];
  });
}

function authorOf(written: Written): { readonly by: string; readonly after: KubeObject | { readonly gone: string } } {
  if ('byOthers' in written) return { by: 'person', after: written.byOthers };
  return 'byApiserver' in written
    ? { by: 'apiserver-0', after: written.byApiserver }
    : { by: 'controller-0', after: written };
}

export const STARTS = { spec: 'StagedAndPerformedUpdate' };

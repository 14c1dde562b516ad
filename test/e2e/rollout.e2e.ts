import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Component } from '../../infra/labels.ts';
import { SERVICE_ACCOUNTS } from '../../infra/names.ts';
import { systemClock } from '../../runtime/lib/clock.ts';
import { POLICY_PLURAL } from '../../runtime/api/policy/names.ts';
import { RELEASE_PLURAL } from '../../runtime/api/release/names.ts';
import { GROUP, NAMESPACE, PLURAL } from '../../runtime/api/shadow/names.ts';
import { WORKLOAD_NAMESPACE } from '../../lab/sim/world/workload.ts';
import { unusedRights } from '../rights.ts';
import { eventually } from '../contract/eventually.ts';
import { auditOf, authorOf } from './audit.ts';
import { guard, GUARD_GRACE_SECONDS, guardOf, relaxGuard } from './guard.ts';
import { invariants } from './invariants.ts';
import { kubectl, shadowsAsV1 } from './kubectl.ts';
import { updating, verdict, versionOf } from './looks.ts';
import { DIST, type Scene, Stage } from './scene.ts';

/** Rights that a rollout may well need none of, and where they are used. */
const USED_ELSEWHERE: Readonly<Record<Component, readonly string[]>> = {
  agent: [],
  // An Event that is told again is counted up, and a pod with a volume stays: test/rollout/access.test.ts.
  // Endpoints are listed where a webhook for nodes, pods or evictions fails closed: test/drain/webhooks.test.ts.
  // A drain moved pods of a StatefulSet: test/apiserver/drain/displaced.test.ts.
  apiserver: [
    'patch events',
    'get persistentvolumeclaims',
    'get persistentvolumes',
    'list discovery.k8s.io/endpointslices',
    'get apps/statefulsets',
  ],
  controller: [
    'patch events',
    // Objects stored as v1 are moved: older-storage.e2e.ts.
    'patch apiextensions.k8s.io/customresourcedefinitions/status',
    // A node is no longer managed: upheaval.e2e.ts.
    `delete ${GROUP}/${PLURAL}`,
    // Somebody has made a policy: policies.e2e.ts.
    `patch ${GROUP}/${POLICY_PLURAL}/status`,
    // Nobody has run, or was offered, a release for a week: test/api/release/kept.test.ts.
    `delete ${GROUP}/${RELEASE_PLURAL}`,
    // A repository was read, which none can be here: test/controller/repositories.test.ts.
    'create configmaps',
    'patch configmaps',
  ],
};

let stage: Stage;

beforeAll(async () => {
  stage = await Stage.set();
  await stage.startCertManager();
});

afterAll(() => stage.strike(), 60_000);

test('the API server takes every manifest without an error and without a warning', async () => {
  // A dry run makes none for the rest to be in.
  await kubectl('create', 'namespace', NAMESPACE, '--save-config');
  const { stdout, stderr } = await kubectl('apply', '--dry-run=server', '--validate=strict', '-f', DIST);
  expect(stderr).toBe('');
  expect(
    stdout
      .trim()
      .split('\n')
      .every((line) => line.endsWith('(server dry run)')),
  ).toBe(true);
});

test('PodSecurity accepts apiserver and controller as restricted, and objects to the agent only for its socket and SELinux type', async () => {
  const level = 'pod-security.kubernetes.io/warn';
  await kubectl('label', 'namespace', NAMESPACE, `${level}=restricted`);
  const { stderr } = await kubectl('apply', '--dry-run=server', '-f', DIST);
  await kubectl('label', 'namespace', NAMESPACE, `${level}-`);
  const warnings = stderr.split('\n').filter((line) => line.startsWith('Warning: would violate PodSecurity'));
  expect(warnings).toHaveLength(1);
  expect(warnings[0]?.match(/(?<=: |, )[a-zA-Z ]+(?= \()/g)).toEqual(['seLinuxOptions', 'restricted volume types']);
  expect(warnings[0]).toContain('super_t');
});

test('cert-manager issues every certificate, and the injector gives the CRD the authority that signed them', async () => {
  await stage.installOperator(await stage.shortHold());
}, 90_000);

describe('five nodes', () => {
  let scene: Scene;
  let blocked: string;
  let relaxedMs: number;

  test('a budget that blocks a drain is named, with its pod, and is kept', async () => {
    scene = await stage.startFleet({ nodes: 5 });
    await eventually(() => kubectl('cordon', 'node-5'));
    blocked = await scene.until((history) => updating(history, ['node-5']));
    await guard(stage.cluster, blocked);
    const { message } = await scene.until((history) => {
      const said = verdict(history, blocked);
      return said?.reason === 'DrainBlocked' && said;
    });
    const guarding = `${WORKLOAD_NAMESPACE}/${guardOf(blocked)}`;
    expect(message).toContain(`PodDisruptionBudget ${guarding} (pod ${guarding})`);
    // What is wrong is seen before the first eviction is tried.
    await eventually(async () => expect(await guardEvictions()).not.toEqual([]));
  });

  test('roll over one at a time once it is relaxed, each empty when it goes down, and a cordon that was there stays', async () => {
    relaxedMs = systemClock.now();
    await relaxGuard(blocked);
    await scene.rolledOver();
    expect(await invariants(scene)).toEqual([]);
    const { history, fleet } = scene;
    const nodes = [...history.nodes.values()];
    expect(nodes.map(versionOf)).toEqual(Array(5).fill('1.39.0'));
    expect(nodes.filter(({ spec }) => spec?.unschedulable).map(({ metadata }) => metadata.name)).toEqual(['node-5']);
    expect(fleet.reboots.map(({ node }) => node).toSorted()).toEqual([...history.nodes.keys()].toSorted());
  }, 240_000);

  test('nothing was evicted against the budget', async () => {
    const asked = await guardEvictions();
    const codes = (from: number, to: number): Set<unknown> =>
      new Set(asked.filter(({ atMs }) => from <= atMs && atMs < to).map(({ code }) => code));
    expect(codes(0, relaxedMs)).toEqual(new Set([429]));
    expect(codes(relaxedMs, Infinity)).toContain(201);
  });

  test('a pod that takes all of its grace has it, and its node goes down after that', () => {
    const guards = scene.history.sightings.filter(({ object }) => object.metadata.name === guardOf(blocked));
    const asked = guards.find(({ object }) => object.metadata.deletionTimestamp !== undefined);
    const gone = guards.find((seen) => seen.gone)?.atMs ?? 0;
    // The time by which it is to be gone is given in whole seconds.
    expect(gone - (asked?.atMs ?? 0)).toBeGreaterThan((GUARD_GRACE_SECONDS - 1) * 1000);
    expect(scene.fleet.reboots.find(({ node }) => node === blocked)?.atMs).toBeGreaterThan(gone);
  });

  test("what the operator's pods run with was given to their nodes, and to nobody else", async () => {
    const own = (await auditOf(stage.cluster)).filter(({ objectRef }) => objectRef?.namespace === NAMESPACE);
    const askers = (verb: string, resource: string, subresource?: string): readonly string[] => {
      const asked = own.filter(({ verb: done, objectRef: of, responseStatus }) => {
        const isSame = done === verb && of?.resource === resource && of.subresource === subresource;
        return isSame && (responseStatus?.code ?? 500) < 300;
      });
      return [...new Set(asked.map(authorOf))].toSorted();
    };
    const kubelets = [...scene.history.nodes.keys()].map((name) => `system:node:${name}`).toSorted();
    expect(askers('create', 'serviceaccounts', 'token')).toEqual(kubelets);
    expect(askers('get', 'secrets')).toEqual(expect.arrayContaining(kubelets));
    expect(askers('patch', 'pods', 'status')).toEqual(expect.arrayContaining(kubelets));
    for (const told of [askers('patch', 'pods', 'status'), askers('delete', 'pods')])
      expect(told).not.toContain('kwok');
  });

  /** How the API server answered who wanted to evict the pod that its budget keeps. */
  async function guardEvictions(): Promise<readonly { readonly atMs: number; readonly code: number | undefined }[]> {
    return (await auditOf(stage.cluster))
      .filter(({ objectRef }) => objectRef?.subresource === 'eviction' && objectRef.name === guardOf(blocked))
      .map(({ stageTimestamp, responseStatus }) => ({ atMs: Date.parse(stageTimestamp), code: responseStatus?.code }));
  }
});

test('a client that reads v1 is answered through the conversion webhook, with the certificate that cert-manager issued', async () => {
  const shadows = await shadowsAsV1();
  expect(shadows.map(({ apiVersion }) => apiVersion)).toEqual(Array(5).fill(`${GROUP}/v1`));
});

test.each(['agent', 'apiserver', 'controller'] as const)(
  'the %s needed each right that its roles give it, but for those that other scenarios need',
  async (component) => {
    const user = `system:serviceaccount:${NAMESPACE}:${SERVICE_ACCOUNTS[component]}`;
    const asked = (await auditOf(stage.cluster))
      .filter((event) => authorOf(event) === user)
      .map(({ verb, objectRef: { apiGroup: group, resource, subresource } = {} }) => ({
        verb,
        group,
        resource,
        subresource,
      }));
    const unused = unusedRights(component, asked);
    expect(unused.filter((right) => !USED_ELSEWHERE[component].includes(right))).toEqual([]);
  },
);

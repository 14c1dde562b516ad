import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Yaml } from 'cdk8s';
import * as fc from 'fast-check';
import { Alerts } from '../../infra/monitoring/alerts.ts';
import { Dashboard } from '../../infra/monitoring/dashboard.ts';
import { Monitors } from '../../infra/monitoring/monitors.ts';
import { PrometheusSample } from '../../infra/monitoring/prometheus-sample.ts';
import { POLICY_CRD_NAME } from '../../runtime/api/policy/names.ts';
import { NAMESPACE } from '../../runtime/api/shadow/names.ts';
import type { BrupopProps } from '../../infra/props/brupop.ts';
import { systemClock } from '../../runtime/lib/clock.ts';
import { ADMIN, EmbeddedCluster } from '../../lab/sim/cluster/cluster.ts';
import { type ServedCluster, serveCluster } from '../../lab/sim/cluster/https.ts';
import { anyProps } from '../infra/any-props.ts';
import { examples } from '../documents.ts';
import { chartOf, find, manifests } from '../infra/manifests.ts';
import { noKubectl, shell } from '../shell.ts';
import { runs } from '../random.ts';
import { shared } from '../folder.ts';

/**
 * The manifests before an API server that checks every field: the embedded one or, where `CONTRACT_KUBECONFIG` names one, a real one,
 * which also knows the fields of its own kinds.
 */

const MINUTE = 60_000;
const when = noKubectl ? describe.skip : describe;

when(noKubectl ? 'an API server (skipped: no kubectl on the PATH)' : 'an API server', () => {
  let kubeconfig = process.env['CONTRACT_KUBECONFIG'] ?? '';
  let embedded: ServedCluster | undefined;
  const run = (command: string) => shell(command, { kubeconfig, home: shared });

  beforeAll(async () => {
    if (kubeconfig === '') {
      embedded = await serveCluster(new EmbeddedCluster({ clock: systemClock, random: Math.random }));
      kubeconfig = join(shared, 'kubeconfig');
      await writeFile(kubeconfig, embedded.kubeconfig(ADMIN));
    }
    // Definitions of cert-manager's own that are there already stay.
    await run('kubectl create -f imports/crds');
    // A dry run does not make the kind of the policies known.
    const policies = find(manifests(), 'CustomResourceDefinition', POLICY_CRD_NAME);
    await writeFile(join(shared, 'policies.yaml'), Yaml.stringify(policies));
    await run(`kubectl create --save-config -f ${join(shared, 'policies.yaml')}`);
    await run('kubectl wait crd --all --for=condition=Established');
    await run(`kubectl create namespace ${NAMESPACE} --save-config`);
  });

  afterAll(async () => {
    await embedded?.close();
  });

  /** What the API server has to say against the manifests of these props, warnings included. */
  async function complaints(props: BrupopProps): Promise<string[]> {
    // No manifest makes the namespace of channels: it has to be there.
    const chart = chartOf({ ...props, namespace: NAMESPACE, k3os: { ...props.k3os, namespace: NAMESPACE } });
    const { brupop } = chart;
    const monitoring = [
      new PrometheusSample(chart, 'Prometheus', { brupop }),
      new Monitors(chart, 'Monitors', { brupop }),
      new Alerts(chart, 'Alerts', { brupop }),
      new Dashboard(chart, 'Dashboard', { brupop }),
    ];
    expect(monitoring).toHaveLength(4);
    await writeFile(join(shared, 'manifests.yaml'), Yaml.stringify(...(chart.toJson() as object[])));
    const command = `kubectl apply --dry-run=server --validate=strict -f ${join(shared, 'manifests.yaml')}`;
    const { stdout, stderr } = await run(command);
    const lines = (stdout + stderr).split('\n').filter(Boolean);
    expect(lines.length).toBeGreaterThan(20);
    return lines.filter((line) => !line.endsWith(' (server dry run)'));
  }

  test('takes the defaults without a warning', async () => {
    expect(await complaints({})).toEqual([]);
  });

  test('takes every policy that docs/policies.md shows, as it stands there', async () => {
    const policies = examples('docs/policies.md', 'yaml').map(([, source]) => source);
    expect(policies.length).toBeGreaterThan(2);
    // Without quotes this is a boolean to kubectl.
    const bare = policies[0]?.replace('spec:', 'spec:\n  windowFit: off');
    for (const [index, source] of [...policies, bare].entries()) {
      const file = join(shared, `policy-${index}.yaml`);
      await writeFile(file, source ?? '');
      const { stdout, stderr } = await run(`kubectl apply --dry-run=server --validate=strict -f ${file}`);
      expect(`${stdout}${stderr}`).toMatch(/^(bottlerocketupdatepolicy\S+ created \(server dry run\)\n)+$/);
    }
  });

  test('takes whatever valid props lead to without a warning', () =>
    fc.assert(
      fc.asyncProperty(anyProps, async (props) => {
        expect(await complaints(props)).toEqual([]);
      }),
      { ...runs(8), interruptAfterTimeLimit: MINUTE },
    ));
});

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { helmChart } from '../../../infra/helm/chart.ts';
import { systemClock } from '../../../runtime/lib/clock.ts';
import { POLICY_CRD_NAME } from '../../../runtime/api/policy/names.ts';
import { RELEASE_CRD_NAME } from '../../../runtime/api/release/names.ts';
import { CRD_NAME, NAMESPACE } from '../../../runtime/api/shadow/names.ts';
import { ADMIN, EmbeddedCluster } from '../../../lab/sim/cluster/cluster.ts';
import { type ServedCluster, serveCluster } from '../../../lab/sim/cluster/https.ts';
import { examples } from '../../documents.ts';
import { folder } from '../../folder.ts';
import { noHelm, noKubectl, type Outcome, shell } from '../../shell.ts';
import type { Manifest } from '../manifests.ts';
import { OLDER_CHARTS } from './older-release.ts';
import { writeChart } from './rendered.ts';

/**
 * Coming from the older operator's Helm releases by the commands of docs/migrating.md; on the embedded cluster or, where `CONTRACT_KUBECONFIG`
 * names one, on a real one that nobody else uses, where Helm applies on the server.
 */
const REAL = process.env['CONTRACT_KUBECONFIG'];

const missing = noKubectl || noHelm;

(missing ? describe.skip : describe)(
  `the older operator’s releases${missing ? ' (skipped: no helm or kubectl)' : ''}`,
  () => {
    let kubeconfig: string;
    let embedded: ServedCluster | undefined;

    /** As the embedded cluster needs it, which knows no server-side apply. */
    const here = (command: string): string => {
      const own = command.replace('build/helm', join(folder, 'chart'));
      return REAL === undefined && /^helm (install|upgrade)/.test(own)
        ? `${own.replace(' --force-conflicts', '')} --server-side=false`
        : own;
    };
    const run = (command: string): Promise<Outcome> => shell(here(command), { kubeconfig, home: folder });

    async function done(command: string): Promise<string> {
      const { code, stdout, stderr } = await run(command);
      if (code !== 0) throw new Error(`${command}: ${code} ${stdout}${stderr}`);
      return stdout;
    }

    const get = async (what: string): Promise<Manifest> =>
      JSON.parse(await done(`kubectl get ${what} --namespace ${NAMESPACE} -o json`)) as Manifest;
    const commands = (): string[] =>
      examples('docs/migrating.md', 'sh')
        .map(([, source]) => source.trim().split('\n'))
        .find((lines) => lines.some((line) => line.includes('owner=helm'))) ?? [];

    beforeEach(async () => {
      kubeconfig = REAL ?? join(folder, 'kubeconfig');
      if (REAL === undefined) {
        embedded = await serveCluster(new EmbeddedCluster({ clock: systemClock, random: Math.random }));
        await writeFile(kubeconfig, embedded.kubeconfig(ADMIN));
      }
      await run('kubectl create -f imports/crds');
      await done('kubectl wait crd --all --for=condition=Established');
      writeChart(join(folder, 'chart'), helmChart('infra'));
      for (const [release, files] of Object.entries(OLDER_CHARTS)) {
        writeChart(join(folder, release), files);
        await done(`helm install ${release} ${join(folder, release)} --namespace default`);
      }
      await done(`kubectl wait crd ${CRD_NAME} --for=condition=Established`);
      const shadow = {
        apiVersion: 'brupop.bottlerocket.aws/v2',
        kind: 'BottlerocketShadow',
        metadata: { name: 'brs-node-1', namespace: NAMESPACE },
        spec: { state: 'Idle' },
      };
      await done(`echo '${JSON.stringify(shadow)}' | kubectl create -f -`);
    });

    afterEach(async () => {
      const all = `helm uninstall brupop --namespace ${NAMESPACE}; helm uninstall brupop-crd brupop-operator --namespace default`;
      await run(
        `${all}; kubectl delete namespace ${NAMESPACE}; kubectl delete crd ${CRD_NAME} ${POLICY_CRD_NAME} ${RELEASE_CRD_NAME}`,
      );
      await embedded?.close();
      embedded = undefined;
    });

    test('are not taken over while their uninstallation would take the new operator and every shadow along', async () => {
      const refused = await run(commands().at(-1) ?? '');
      expect(refused.code).toBe(1);
      expect(refused.stderr).toMatch(/the release brupop-(crd|operator) in the namespace default: uninstalled later/);
      expect(refused.stderr).toMatch(/kubectl delete secret --namespace default --selector owner=helm,name=brupop-/);
    });

    test('are taken over by the documented commands without loss, and nothing of the older agents is left', async () => {
      for (const command of commands()) await done(command);
      const { metadata, spec } = await get('daemonset brupop-agent');
      const [container] = spec.template.spec.containers;
      expect(container.resources.limits).toEqual({ memory: '128Mi' });
      expect(container.volumeMounts).toHaveLength(3);
      expect(JSON.stringify(spec)).not.toContain('apiclient');
      expect(metadata.annotations).toMatchObject({ 'meta.helm.sh/release-name': 'brupop' });

      for (const older of Object.keys(OLDER_CHARTS))
        expect((await run(`helm uninstall ${older} --namespace default`)).stderr).toContain('not found');
      expect((await get('bottlerocketshadows.v2.brupop.bottlerocket.aws brs-node-1')).metadata.name).toBe('brs-node-1');
      expect((await get('deployment brupop-apiserver')).metadata.name).toBe('brupop-apiserver');
    });
  },
);

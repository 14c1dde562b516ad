import { globSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { helmChart } from '../../../infra/helm/chart.ts';
import { systemClock } from '../../../runtime/lib/clock.ts';
import { POLICY_CRD_NAME } from '../../../runtime/api/policy/names.ts';
import { RELEASE_CRD_NAME } from '../../../runtime/api/release/names.ts';
import { CRD_NAME } from '../../../runtime/api/shadow/names.ts';
import { ADMIN, EmbeddedCluster } from '../../../lab/sim/cluster/cluster.ts';
import { type ServedCluster, serveCluster } from '../../../lab/sim/cluster/https.ts';
import { examples, ROOT } from '../../documents.ts';
import { noHelm, noKubectl, type Outcome, shell } from '../../shell.ts';
import { literalEnv, type Manifest, manifests } from '../manifests.ts';
import { folder } from '../../folder.ts';

/**
 * Releases of the chart on the embedded cluster or, where `CONTRACT_KUBECONFIG` names one, on a real one that nobody else uses. The embedded
 * one knows no server-side apply, which is what Helm does unless it is told otherwise.
 */
const REAL = process.env['CONTRACT_KUBECONFIG'];
const APPLY = REAL === undefined ? '--server-side=false' : '';

/** What may write a field of an object of the release, or lock one. */
const WRITES = /kubectl (--namespace \S+ )?(annotate|apply -f -|create|label|patch|set|scale|edit) /;
/** Of an installation without Helm, of another operator, or of people's rights; the namespace is made already. */
const OTHERWISE = /dist\/|k3os-system|rolebinding|create namespace/;

const missing = noKubectl || noHelm;
const when = missing ? describe.skip : describe;

when(missing ? 'a release (skipped: no helm or kubectl on the PATH)' : 'a release', () => {
  let chart: string;
  let kubeconfig: string;
  let embedded: ServedCluster | undefined;
  const run = (command: string): Promise<Outcome> => shell(command, { kubeconfig, home: folder });

  /** @throws what the program says, where it has not done what it should */
  async function done(command: string): Promise<string> {
    const { code, stdout, stderr } = await run(command);
    if (code !== 0 || /warning/i.test(stderr)) throw new Error(`${command}: ${code} ${stdout}${stderr}`);
    return stdout;
  }

  const get = async (what: string): Promise<Manifest[]> =>
    JSON.parse(await done(`kubectl get ${what} --namespace updates -o json`)).items;

  beforeEach(async () => {
    chart = join(folder, 'chart');
    for (const [name, text] of Object.entries(helmChart('infra'))) {
      await mkdir(dirname(join(chart, name)), { recursive: true });
      await writeFile(join(chart, name), text);
    }
    kubeconfig = REAL ?? join(folder, 'kubeconfig');
    if (REAL === undefined) {
      embedded = await serveCluster(new EmbeddedCluster({ clock: systemClock, random: Math.random }));
      await writeFile(kubeconfig, embedded.kubeconfig(ADMIN));
    }
    // Definitions of cert-manager's own that are there already stay.
    await run('kubectl create -f imports/crds');
    await done('kubectl wait crd --all --for=condition=Established');
    await done('kubectl create namespace updates');
  });

  afterEach(async () => {
    await run(
      `helm uninstall updater --namespace updates; kubectl delete namespace updates; kubectl delete node node-1; kubectl delete crd ${CRD_NAME} ${POLICY_CRD_NAME} ${RELEASE_CRD_NAME}`,
    );
    await embedded?.close();
  });

  const helm = (verb: string, rest = ''): string =>
    `helm ${verb} updater ${verb === 'rollback' ? '' : chart} --namespace updates ${APPLY} ${rest}`;

  const KINDS = 'deployments,daemonsets,services,serviceaccounts,roles,rolebindings,certificates,issuers';
  const concurrency = async () => literalEnv(await get('deployments'), 'controller')['MAX_CONCURRENT_UPDATE'];

  test('has what the constructs have, and changes with its values there and back', async () => {
    await done(helm('install'));
    const expected = manifests({ namespace: 'updates' }).filter(({ metadata }) => metadata.namespace === 'updates');
    const names = new Set((await get(KINDS)).map(({ kind, metadata }) => `${kind}/${metadata.name}`));
    expect([...names]).toEqual(
      expect.arrayContaining(
        expected
          .map(({ kind, metadata }) => `${kind}/${metadata.name}`)
          .filter((name) => !name.startsWith('PodDisruption')),
      ),
    );
    for (const { metadata } of await get('deployments,daemonsets'))
      expect(metadata.labels).toMatchObject({ 'app.kubernetes.io/instance': 'updater' });

    await done(helm('upgrade', '--set controller.maxConcurrentUpdate=3'));
    expect(await concurrency()).toBe('3');
    const { code, stderr } = await run(helm('upgrade', '--set controller.maxConcurrentUpdate=many'));
    expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining('maxConcurrentUpdate') });
    expect(await concurrency()).toBe('3');

    await done(helm('rollback', '1'));
    expect(await concurrency()).toBe('1');
  });

  test('takes policies once the cluster has their definition, and says so before', async () => {
    const policies = [
      { name: 'test', nodeSelector: { matchLabels: { stage: 'test' } } },
      { name: 'production', nodeSelector: {}, after: ['test'], paused: true },
    ];
    await writeFile(join(folder, 'policies.json'), JSON.stringify({ policies }));
    const given = `--values ${join(folder, 'policies.json')}`;
    const { code, stderr } = await run(helm('install', given));
    expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining('--set policies=null') });

    await done(helm('install', `${given} --set policies=null`));
    await done(helm('upgrade', given));
    const names = async () => (await get('bup')).map(({ metadata, spec }) => [metadata.name, spec.paused]);
    expect(await names()).toEqual([
      ['production', true],
      ['test', false],
    ]);
    await done(helm('upgrade', '--set policies=null'));
    expect(await names()).toEqual([]);
  });

  test('can be changed, and changed back, after each documented command that writes and leaves it there', async () => {
    await done(helm('install'));
    await done(`echo '{"apiVersion":"v1","kind":"Node","metadata":{"name":"node-1"}}' | kubectl create -f -`);
    const documented = globSync(['README.md', 'docs/*.md'], { cwd: ROOT })
      .flatMap((document) => examples(document, 'sh'))
      .flatMap(([, source]) => source.trim().split('\n'))
      .filter((line) => WRITES.test(line) && !OTHERWISE.test(line));
    expect(documented.length).toBeGreaterThan(9);
    for (const command of documented)
      await done(command.replaceAll('brupop-bottlerocket-aws', 'updates').replaceAll('NODE', 'node-1'));
    await done(helm('upgrade', '--set controller.maxConcurrentUpdate=3'));
    expect(await concurrency()).toBe('3');
    await done(helm('rollback', '1'));
    expect(await concurrency()).toBe('1');
  });

  test('leaves the definition and the shadows behind when it is uninstalled, and finds them when it comes again', async () => {
    await done(helm('install'));
    await done(`kubectl wait crd ${CRD_NAME} --for=condition=Established`);
    const shadow = {
      apiVersion: 'brupop.bottlerocket.aws/v2',
      kind: 'BottlerocketShadow',
      metadata: { name: 'brs-node-1', namespace: 'updates' },
      spec: { state: 'Idle' },
    };
    await writeFile(join(folder, 'shadow.json'), JSON.stringify(shadow));
    await done(`kubectl create -f ${join(folder, 'shadow.json')}`);

    await done('helm uninstall updater --namespace updates --wait=watcher');
    expect(await get('deployments,daemonsets,roles,certificates')).toEqual([]);
    expect((await get('bottlerocketshadows.v2.brupop.bottlerocket.aws')).map(({ metadata }) => metadata.name)).toEqual([
      'brs-node-1',
    ]);

    await done(helm('install'));
    expect(await get('bottlerocketshadows.v2.brupop.bottlerocket.aws')).toHaveLength(1);
  });
});

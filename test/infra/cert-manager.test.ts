import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { certManagerCrds, type CertManagerRelease } from '../e2e/controlplane/build.ts';
import { folder } from '../folder.ts';
import { type Outcome, shell } from '../shell.ts';
import { EVERYTHING } from './helm/everything.ts';
import { type Manifest, manifests } from './manifests.ts';

/** The API server drops what a definition does not know, so that a certificate would lack it silently: here it refuses it. */
const REAL = process.env['CONTRACT_KUBECONFIG'];
const NAMESPACE = 'certificates';
const RELEASES: readonly CertManagerRelease[] = ['oldest', 'newest'];

const kinds = new Set(['Certificate', 'Issuer']);
const ours: readonly Manifest[] = [{}, ...Object.values(EVERYTHING)].flatMap(({ certificates, clusterDomain }) =>
  manifests({
    namespace: NAMESPACE,
    ...(certificates && { certificates }),
    ...(clusterDomain && { clusterDomain }),
  }).filter(({ kind }) => kinds.has(kind)),
);

(REAL === undefined ? describe.skip.each(RELEASES) : describe.each(RELEASES))(
  `${REAL === undefined ? '(skipped: no real API server) ' : ''}with the definitions of the %s cert-manager`,
  (release) => {
    const run = (command: string): Promise<Outcome> => shell(command, { kubeconfig: REAL ?? '', home: folder });
    const strictly = async (name: string, items: readonly object[]): Promise<Outcome> => {
      const file = join(folder, `${name}.json`);
      await writeFile(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
      return run(`kubectl create --dry-run=server --validate=strict -f ${file}`);
    };

    beforeAll(async () => {
      const crds = await certManagerCrds({ env: process.env }, release);
      const outcome = await run(
        `kubectl apply --server-side --force-conflicts -f ${crds} && kubectl wait crd --all --for=condition=Established --timeout=60s && kubectl create namespace ${NAMESPACE}`,
      );
      expect(outcome).toMatchObject({ code: 0 });
    });
    afterAll(async () => {
      const crds = await certManagerCrds({ env: process.env }, release);
      await run(`kubectl delete namespace ${NAMESPACE}; kubectl delete -f ${crds}`);
    });

    test('the API server takes every certificate and issuer that there can be, field by field', async () => {
      expect(await strictly('ours', ours)).toMatchObject({ code: 0, stderr: '' });
    });

    test('it refuses what that release does not know', async () => {
      const first = ours.find(({ kind }) => kind === 'Certificate');
      const outcome = await strictly('newer', [
        { ...first, spec: { ...first?.spec, signatureAlgorithm: 'SHA384WithRSA' } },
      ]);
      const refused = { code: 1, stderr: expect.stringMatching(/unknown field "(spec\.)?signatureAlgorithm"/) };
      expect(outcome).toMatchObject(release === 'newest' ? { code: 0, stderr: '' } : refused);
    });
  },
);

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { CRD_NAME, NAMESPACE } from '../../runtime/api/shadow/names.ts';
import { folder } from '../folder.ts';
import { CA } from './pem.ts';
import { type Outcome, shell } from '../shell.ts';

/** What Flux and Argo CD do with the manifests, by their field managers. The embedded API server knows no server-side apply; a real one must be nobody else's. */
const REAL = process.env['CONTRACT_KUBECONFIG'];

(REAL === undefined ? describe.skip : describe)(
  `${REAL === undefined ? '(skipped: no real API server) ' : ''}applied on the server`,
  () => {
    const run = (command: string): Promise<Outcome> => shell(command, { kubeconfig: REAL ?? '', home: folder });
    async function done(command: string): Promise<string> {
      const { code, stdout, stderr } = await run(command);
      if (code !== 0) throw new Error(`${command}: ${code} ${stdout}${stderr}`);
      return stdout;
    }

    beforeEach(async () => {
      mkdirSync(join(folder, '.kube'), { recursive: true });
      await run('kubectl create -f imports/crds');
      await done('kubectl wait crd --all --for=condition=Established');
    });
    afterEach(() =>
      run(`kubectl delete namespace ${NAMESPACE} --ignore-not-found; kubectl delete -k . --ignore-not-found`),
    );

    test.each(['kustomize-controller', 'argocd-controller'])(
      'by %s, nothing differs after the second sync',
      async (manager) => {
        const apply = `kubectl apply --server-side --field-manager=${manager} --force-conflicts -k .`;
        await done(apply);
        const caBundle = Buffer.from(CA).toString('base64');
        const patch = JSON.stringify({ spec: { conversion: { webhook: { clientConfig: { caBundle } } } } });
        await done(`kubectl patch crd ${CRD_NAME} --field-manager=cainjector --type=merge -p '${patch}'`);
        await done(apply);
        const { code, stdout, stderr } = await run(
          `kubectl diff --server-side --field-manager=${manager} --force-conflicts -k .`,
        );
        expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: '', stderr: '' });
        expect(
          await done(`kubectl get crd ${CRD_NAME} -o jsonpath='{.spec.conversion.webhook.clientConfig.caBundle}'`),
        ).toBe(caBundle);
      },
    );
  },
);

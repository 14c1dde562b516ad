import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { parse, parseAllDocuments, stringify } from 'yaml';
import { examples, ROOT } from '../documents.ts';
import { folder } from '../folder.ts';
import { noKubectl, shell } from '../shell.ts';
import { type Manifest, manifests } from './manifests.ts';

/** `kubectl kustomize`, which has kustomize built in. */

const byName = (objects: readonly Manifest[]): Map<string, Manifest> =>
  new Map(objects.map((object) => [`${object.kind}/${object.metadata.name}`, object]));

/** What a kustomization makes of the manifests. @param where its folder, below one that is as this repository */
async function built(where = '.'): Promise<Manifest[]> {
  const command = `kubectl kustomize ${join(folder, where)}`;
  const { code, stdout, stderr } = await shell(command, { kubeconfig: 'none', home: folder });
  if (code !== 0) throw new Error(stderr);
  return parseAllDocuments(stdout).map((document) => document.toJS() as Manifest);
}

function repository(): void {
  for (const name of ['kustomization.yaml', 'kustomize', 'dist'])
    cpSync(join(ROOT, name), join(folder, name), { recursive: true });
}

(noKubectl ? describe.skip : describe)(`kustomize${noKubectl ? ' (skipped: no kubectl on the PATH)' : ''}`, () => {
  test('builds the manifests as they are', async () => {
    repository();
    expect(byName(await built())).toEqual(byName(manifests()));
  });

  test('with another namespace, as Flux and Argo CD write it into the file, builds what the constructs make for it', async () => {
    repository();
    const own = parse(readFileSync(join(folder, 'kustomization.yaml'), 'utf8')) as object;
    writeFileSync(join(folder, 'kustomization.yaml'), stringify({ ...own, namespace: 'updates' }));
    expect(byName(await built())).toEqual(byName(manifests({ namespace: 'updates' })));
  });

  test('so does the kustomization that the documents show', async () => {
    const shown = examples('docs/gitops.md', 'yaml').find(([, source]) => source.includes('namespace: updates'))?.[1];
    mkdirSync(join(folder, 'own'));
    for (const name of ['kustomize/namespace.yaml', 'dist/brupop.k8s.yaml'])
      cpSync(join(ROOT, name), join(folder, 'own', name.replace(/^.*\//, '')));
    writeFileSync(join(folder, 'own/kustomization.yaml'), shown ?? '');
    expect(byName(await built('own'))).toEqual(byName(manifests({ namespace: 'updates' })));
  });
});

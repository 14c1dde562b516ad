import { expect, test } from '@jest/globals';
import { parseAllDocuments } from 'yaml';
import { settingsOf } from '../../infra/props/settings.ts';
import { MANAGED_LABEL } from '../../runtime/api/shadow/names.ts';
import { examples, read } from '../documents.ts';

/** What docs/eks.md gives users to copy. */

const PAGE = 'docs/eks.md';
const under = (heading: string, language: string): string =>
  examples(PAGE, language)
    .flatMap(([title, source]) => (title === heading ? [source] : []))
    .join('---\n');

const LABELS = { [MANAGED_LABEL]: '2.0.0' };

test('eksctl and Karpenter are shown to give nodes the label', () => {
  const shown = parseAllDocuments(under('Label the nodes', 'yaml')).map((document) => document.toJS());
  const [eksctl, nodePool, nodeClass] = shown;
  expect(eksctl.managedNodeGroups[0].labels).toEqual(LABELS);
  expect(nodePool.spec.template.metadata.labels).toEqual(LABELS);
  expect(nodePool.spec.template.spec.nodeClassRef.name).toBe(nodeClass.metadata.name);
});

test('user data and a managed node group are shown to give nodes the label', () => {
  expect(under('Label the nodes', 'toml')).toBe(
    `[settings.kubernetes.node-labels]\n"${MANAGED_LABEL}" = "${LABELS[MANAGED_LABEL]}"\n`,
  );
  expect(under('Label the nodes', 'sh')).toContain(`addOrUpdateLabels={${MANAGED_LABEL}=${LABELS[MANAGED_LABEL]}}`);
});

test('the rules of security groups open the ports that the API server connects to', () => {
  const { apiserver, controller } = settingsOf({});
  const opened = Array.from(under('Let the API server in', 'sh').matchAll(/--port (\d+)/g), ([, port]) => Number(port));
  expect(opened).toEqual([apiserver.internalPort, controller.httpPort]);
});

test('the values for network policies are taken', () => {
  const [values] = parseAllDocuments(under('Let the API server in', 'yaml')).map((document) => document.toJS());
  expect(settingsOf(values).networkPolicies).toMatchObject(values.networkPolicies);
});

test('the settings that it names are props', () => {
  const settings = settingsOf({});
  const named = Array.from(read(PAGE).matchAll(/`(agent|apiserver|controller)\.(\w+)/g));
  expect(named.length).toBeGreaterThan(3);
  for (const [, process, name] of named) expect(settings[process as 'agent']).toHaveProperty(name ?? '');
});

import { expect, test } from '@jest/globals';
import type { Facts } from '../../runtime/cli/doctor/facts.ts';
import { agentFindings } from '../../runtime/cli/doctor/agents.ts';

test('doctor names the hosts that cannot look for updates, with what to open', () => {
  const nodes = [{ name: 'a', shadowName: 'brs-a', managed: true, ready: false }];
  const verdicts = ['a', 'b'].map((node) => ({ node, reason: 'CannotLookForUpdates', message: `${node}: no answer` }));
  const seen = { snapshot: { nodes, shadows: [] }, plan: { verdicts } };
  const facts = { seen, pods: { value: [], refused: undefined } } as unknown as Facts;
  const found = agentFindings(facts).filter(({ state }) => state === 'problem');
  expect(found.map(({ says }) => says)).toEqual(['cannot look for updates: a, b (a: a: no answer)']);
  expect(found.map(({ todo }) => todo).join()).toContain('https://updates.bottlerocket.aws');
});

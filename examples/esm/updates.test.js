// Whoever reviews a change, or a newer version of cdk8s-brupop, sees what becomes of the manifests: npm test -- -u writes it down.
import { Testing, Yaml } from 'cdk8s';
import { Updates } from './updates.js';

test('the manifests', () => {
  const objects = Testing.synth(new Updates(Testing.app()));
  // No prop changes the definitions, which are long.
  const own = objects.filter(({ kind }) => kind !== 'CustomResourceDefinition');
  expect(Yaml.stringify(...own)).toMatchSnapshot();
});

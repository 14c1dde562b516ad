// Whoever reviews a change, or a newer version of cdk8s-brupop, sees what becomes of the manifests: npm test -- -u writes it down.
const { Testing, Yaml } = require('cdk8s');
const { Platform } = require('./platform.js');

test('the manifests', () => {
  const objects = Testing.synth(new Platform(Testing.app()));
  // No prop changes the definitions, which are long.
  const own = objects.filter(({ kind }) => kind !== 'CustomResourceDefinition');
  expect(Yaml.stringify(...own)).toMatchSnapshot();
});

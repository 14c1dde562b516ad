import type { GoProgram } from './build.ts';

export const HELM: GoProgram = { name: 'helm', module: 'helm', package: 'helm.sh/helm/v4/cmd/helm' };

import { Chart } from 'cdk8s';
import type { Construct } from 'constructs';
import { admitted, Brupop } from './brupop.ts';
import type { BrupopProps } from './props/brupop.ts';
import { settingsOf } from './props/settings.ts';

const OPERATOR = 'Operator';

/** A chart that holds the operator and nothing else. */
export class BrupopChart extends Chart {
  readonly brupop: Brupop;

  /** @throws InvalidPropsError, DuplicateOperatorError */
  constructor(scope: Construct, id: string, props: BrupopProps = {}) {
    const { namespace } = admitted(scope, `${id}/${OPERATOR}`, settingsOf(props));
    super(scope, id, { namespace });
    this.brupop = new Brupop(this, OPERATOR, props);
  }
}

import { Chart } from 'cdk8s';
import type { Construct } from 'constructs';
import { Brupop } from './brupop.ts';
import type { BrupopProps } from './props/brupop.ts';

/** A chart that holds the operator and nothing else. */
export class BrupopChart extends Chart {
  readonly brupop: Brupop;

  /** @throws InvalidPropsError, DuplicateOperatorError */
  constructor(scope: Construct, id: string, props: BrupopProps = {}) {
    super(scope, id);
    this.brupop = new Brupop(this, 'Operator', props);
  }
}

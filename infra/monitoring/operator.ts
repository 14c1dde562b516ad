import { Construct } from 'constructs';
import * as z from 'zod';
import type { Brupop } from '../brupop.ts';

/** The prop of every construct here that names the operator it is for. */
export const watchedOperator = z.custom<Brupop>(
  (value) => Construct.isConstruct(value) && 'settings' in value,
  'expected a Brupop construct',
);

import { z } from 'zod';
import { controllerEnv } from '../../runtime/controller/config.ts';
import { textIn } from './fields.ts';

/** When updates may start: by cron, or a daily window. Nodes that are already updating finish outside of it. */
export type ScheduleProps = CronProps | WindowProps;

export interface CronProps {
  readonly kind: 'cron';
  /** Seven cron fields, seconds to year, UTC. Consecutive seconds are a window; a lone one starts a rollout that then runs to its end. */
  readonly expression: string;
}

export interface WindowProps {
  readonly kind: 'window';
  /** Start of the daily window, HH:MM:SS, UTC, inclusive. */
  readonly start: string;
  /** End of the daily window, HH:MM:SS, UTC, exclusive; earlier than the start means past midnight. */
  readonly stop: string;
}

const cron = z.strictObject({
  kind: z.literal('cron'),
  expression: textIn(controllerEnv.SCHEDULER_CRON_EXPRESSION),
} satisfies Record<keyof CronProps, z.ZodType>);

const window = z
  .strictObject({
    kind: z.literal('window'),
    start: textIn(controllerEnv.UPDATE_WINDOW_START),
    stop: textIn(controllerEnv.UPDATE_WINDOW_STOP),
  } satisfies Record<keyof WindowProps, z.ZodType>)
  .refine((props) => props.start !== props.stop, { path: ['stop'], message: 'expected another time than start' });

export const scheduleProps = z
  .discriminatedUnion('kind', [cron, window], 'expected cron or window')
  .default({ kind: 'cron', expression: controllerEnv.SCHEDULER_CRON_EXPRESSION.default });

export type Schedule = z.output<typeof scheduleProps>;

/** The controller's three variables for it: cron and window exclude each other. */
export function scheduleEnv(schedule: Schedule) {
  const isCron = schedule.kind === 'cron';
  return {
    SCHEDULER_CRON_EXPRESSION: isCron ? schedule.expression : undefined,
    UPDATE_WINDOW_START: isCron ? undefined : schedule.start,
    UPDATE_WINDOW_STOP: isCron ? undefined : schedule.stop,
  };
}

import { askCondition } from './conditions.ts';
import { askJob } from './jobs.ts';
import { askPrometheus } from './queries.ts';
import type { Ask } from './runner.ts';
import type { Asked } from './subject.ts';

/** Asks whom the check names. */
export function askBy(asked: Asked): Ask {
  return (one, signal) => {
    const { check } = one;
    if (check.kind === 'job') return askJob(asked, { ...one, check }, signal);
    if (check.kind === 'query') return askPrometheus(asked, { ...one, check }, signal);
    return askCondition(asked, { ...one, check }, signal);
  };
}

import type { PolicyCard, ReleaseRow } from '../wire.ts';
import { countText, plural, timeText } from './text.ts';

/** The progress of each policy, and of each release under it. */
export function PolicyCards({ policies, now }: { readonly policies: readonly PolicyCard[]; readonly now: number }) {
  return (
    <section class="panel" aria-labelledby="policies">
      <div class="head">
        <h2 id="policies">Policies and releases</h2>
      </div>
      <div class="cards">
        {policies.map((policy) => (
          <Card key={policy.name ?? ''} policy={policy} now={now} />
        ))}
      </div>
    </section>
  );
}

function Card({ policy, now }: { readonly policy: PolicyCard; readonly now: number }) {
  const { name, counts, says, halted, late, atOnce, nextChangeAt, releases } = policy;
  return (
    <article class="card">
      <h3>{name ?? "the controller's variables"}</h3>
      <progress
        value={counts.upToDate}
        max={Math.max(1, counts.nodes)}
        aria-label={`${name ?? 'no policy'}, up to date`}
      />
      <p>
        {countText(counts.upToDate)} of {plural(counts.nodes, 'node')}
        {counts.updating > 0 && `, ${countText(counts.updating)} updating`}
        {counts.failed > 0 && `, ${countText(counts.failed)} failed`}
        {atOnce !== undefined && `; ${countText(atOnce)} at once`}
      </p>
      <Warning text={halted} />
      <Warning text={late} />
      {says !== undefined && <p class="says">{says}</p>}
      {nextChangeAt !== undefined && <p class="says">next change at {timeText(nextChangeAt, now)}</p>}
      {releases.length > 0 && (
        <ul class="releases">
          {releases.map((release) => (
            <ReleaseLine key={`${release.family} ${release.version}`} release={release} />
          ))}
        </ul>
      )}
    </article>
  );
}

const Warning = ({ text }: { readonly text: string | undefined }) =>
  text === undefined ? null : <p class="halted">{text}</p>;

/** Badges. Halted and unproven releases stand out. */
const BADGES: Readonly<Record<ReleaseRow['state'], string>> = {
  halted: '! halted',
  unproven: '◔ not proven yet',
  proven: '✓ proven',
  complete: '✓ complete',
  offered: '· offered',
};

function ReleaseLine({ release: { family, version, state, failed } }: { readonly release: ReleaseRow }) {
  return (
    <li>
      <span class={`badge ${state}`}>{BADGES[state]}</span> <strong>{version}</strong>{' '}
      <span class="family">{family}</span>
      {failed > 0 && <span class="family">, {countText(failed)} failed</span>}
    </li>
  );
}

/** What is felt about a subject: counts, a chart over time, and the same as a table. */

import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import { all, type Page } from "../api";
import { Chart, css, type Plot } from "../chart";
import { number } from "../format";
import { go, hashOf, useGet, useLoad, type Place } from "../hooks";
import { Chip, Choice, Day, Empty, Facts, Heading, Shown, Table, Time } from "../parts";

interface Subject {
  tool_id: string;
  name: string;
  kind: string;
  ticker: string | null;
  active: boolean;
}

interface Sentiment {
  total_mentions: number;
  positive_count: number;
  neutral_count: number;
  negative_count: number;
  positive_percentage: number;
  neutral_percentage: number;
  negative_percentage: number;
  average_sentiment: number;
  is_cached: boolean;
  is_stale: boolean;
  cached_at: string | null;
}

interface Ranked {
  tool_id: string;
  name: string;
  total_mentions: number;
  average_sentiment: number;
}

interface Bucket {
  start: string;
  total_mentions: number;
  positive_count: number;
  neutral_count: number;
  negative_count: number;
  average_sentiment: number;
}

const PERIODS = [
  ["24", "24 hours"],
  ["168", "7 days"],
  ["720", "30 days"],
] as const;

export function SentimentView({ place }: { place: Place }): JSX.Element {
  const subjects = useLoad((signal) => all<Subject>("/api/v1/tools", {}, 5000, signal), []);
  const hours = place.query.get("hours") ?? "24";
  const [typed, setTyped] = useState(place.id);
  return (
    <>
      <Heading title="Sentiment">What the articles that mention a subject felt like, hour by hour.</Heading>
      <Shown of={subjects}>
        {(known) => {
          const chosen = find(known, place.id);
          return (
            <>
              <form
                class="filters"
                role="search"
                onSubmit={(event) => {
                  event.preventDefault();
                  go("sentiment", find(known, typed)?.tool_id ?? typed.trim(), { hours });
                }}
              >
                <label class="field">
                  <span>Subject</span>
                  <input
                    list="subjects"
                    value={typed}
                    placeholder="a name or a ticker"
                    onInput={(event) => setTyped(event.currentTarget.value)}
                  />
                  <datalist id="subjects">
                    {known.map((subject) => (
                      <option key={subject.tool_id} value={subject.name} />
                    ))}
                  </datalist>
                </label>
                <Choice
                  label="Period"
                  value={hours}
                  options={PERIODS}
                  onChange={(value) => go("sentiment", place.id, { hours: value })}
                />
                <button type="submit">Show</button>
              </form>
              {place.id === "" ? (
                <>
                  <Mentioned hours={hours} />
                  <h2>{known.length} subjects</h2>
                  <ul class="chips">
                    {known.map((subject) => (
                      <li key={subject.tool_id}>
                        <a class="chip plain" href={hashOf("sentiment", subject.tool_id, { hours })}>
                          {subject.name}
                        </a>
                      </li>
                    ))}
                  </ul>
                </>
              ) : (
                <Felt id={chosen?.tool_id ?? place.id} name={chosen?.name ?? place.id} hours={hours} />
              )}
            </>
          );
        }}
      </Shown>
    </>
  );
}

/** The subjects that were mentioned, the most mentioned first. No more than 15 days are ranked. */
function Mentioned({ hours }: { hours: string }): JSX.Element {
  const ranked = useGet<Page<Ranked>>("/overviews/subjects", { hours: hours === "24" ? "24" : "168", order: "mentions" });
  const title = `Mentioned in ${hours === "24" ? "24 hours" : "7 days"}`;
  return (
    <>
      <h2>{title}</h2>
      <Shown of={ranked}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty>No article mentioned a subject in this time.</Empty>
          ) : (
            <Table
              caption={title}
              rows={items}
              rowKey={(one) => one.tool_id}
              columns={[
                { name: "Subject", of: (one) => <a href={hashOf("sentiment", one.tool_id, { hours })}>{one.name}</a> },
                { name: "Mentions", right: true, of: (one) => number(one.total_mentions) },
                { name: "Average, −1 … +1", right: true, of: (one) => signed(one.average_sentiment) },
              ]}
            />
          )
        }
      </Shown>
    </>
  );
}

function signed(average: number): string {
  return `${average > 0 ? "+" : ""}${number(average, 2)}`;
}

function find(known: readonly Subject[], text: string): Subject | undefined {
  const wanted = text.trim().toLowerCase();
  return known.find((subject) =>
    [subject.tool_id, subject.name, subject.ticker ?? ""].some((name) => name.toLowerCase() === wanted),
  );
}

function Felt({ id, name, hours }: { id: string; name: string; hours: string }): JSX.Element {
  const path = `/api/v1/tools/${encodeURIComponent(id)}/sentiment`;
  const summary = useGet<Sentiment>(path, { hours });
  const bucket = hours === "24" ? "hour" : "day";
  const series = useGet<{ items: Bucket[] }>(`${path}/series`, { hours, bucket });
  return (
    <section aria-label={`Sentiment of ${name}`}>
      <h2>{name}</h2>
      <Shown of={summary}>
        {(felt) => (
          <>
            {felt.total_mentions === 0 ? <Empty>No article mentioned it in this time.</Empty> : <Shares felt={felt} />}
            <Facts
              of={[
                ["Mentions", number(felt.total_mentions)],
                ["Average", `${signed(felt.average_sentiment)} of −1 … +1`],
                [
                  "As of",
                  <>
                    {felt.cached_at ? <Time at={felt.cached_at} /> : "now"}{" "}
                    {felt.is_stale ? <Chip kind="warn">older than it should be</Chip> : null}
                  </>,
                ],
                ["Articles", <a href={hashOf("articles", "", { tag: id })}>those that mention it</a>],
              ]}
            />
          </>
        )}
      </Shown>
      {/* What is wrong with both is shown once. */}
      {summary.problem !== null ? null : (
        <Shown of={series}>
          {({ items }) =>
            items.some((one) => one.total_mentions > 0) ? <Over buckets={items} name={name} bucket={bucket} /> : null
          }
        </Shown>
      )}
    </section>
  );
}

function Shares({ felt }: { felt: Sentiment }): JSX.Element {
  const parts = [
    ["positive", felt.positive_percentage, felt.positive_count],
    ["neutral", felt.neutral_percentage, felt.neutral_count],
    ["negative", felt.negative_percentage, felt.negative_count],
  ] as const;
  return (
    <>
      <div class="shares" aria-hidden="true">
        {parts.map(([label, share]) => (
          <span key={label} class={label} style={{ flexGrow: share }} />
        ))}
      </div>
      <ul class="chips">
        {parts.map(([label, share, count]) => (
          <li key={label}>
            <Chip kind={label}>
              {label} {number(share, 1)} % ({number(count)})
            </Chip>
          </li>
        ))}
      </ul>
    </>
  );
}

/** "2 negative, 3 neutral of 5 mentions". */
function inWords(bucket: Bucket): string {
  const counts = [
    ["positive", bucket.positive_count],
    ["neutral", bucket.neutral_count],
    ["negative", bucket.negative_count],
  ] as const;
  const present = counts.filter(([, count]) => count > 0);
  const total = bucket.total_mentions === 1 ? "1 mention" : `${number(bucket.total_mentions)} mentions`;
  return `${present.map(([label, count]) => `${number(count)} ${label}`).join(", ")} of ${total}`;
}

function Over({ buckets, name, bucket }: { buckets: Bucket[]; name: string; bucket: string }): JSX.Element {
  const plot = useMemo((): Plot => {
    const x = buckets.map((b) => new Date(b.start).getTime() / 1000);
    // Stacked from the back: each bar is drawn over the sum that it is part of.
    const top = buckets.map((b) => b.positive_count + b.neutral_count + b.negative_count);
    const middle = buckets.map((b) => b.neutral_count + b.negative_count);
    const bottom = buckets.map((b) => b.negative_count);
    const average = buckets.map((b) => (b.total_mentions === 0 ? null : b.average_sentiment));
    return {
      title: `Mentions of ${name} by ${bucket}: ${buckets.map((b) => b.total_mentions).join(", ")}`,
      data: [x, top, middle, bottom, average],
      lines: [
        { label: "positive, on top of", color: css("--positive"), kind: "bars", digits: 0 },
        { label: "neutral, on top of", color: css("--neutral"), kind: "bars", digits: 0 },
        { label: "negative", color: css("--negative"), kind: "bars", digits: 0 },
        { label: "average", color: css("--ink"), kind: "line", scale: "right" },
      ],
      time: true,
      days: bucket === "day",
      yLabel: "mentions",
      range: [0, Math.max(4, ...top)],
      rightScale: { label: "average sentiment", range: [-1, 1] },
    };
  }, [buckets, bucket]);
  const spoken = buckets.filter((b) => b.total_mentions > 0);
  const [only] = spoken;
  return (
    <>
      {spoken.length === 1 && only !== undefined ? (
        <p>
          <span class="figure">{inWords(only)}</span>, all in the {bucket} from{" "}
          {bucket === "hour" ? <Time at={only.start} exact /> : <Day of={only.start} />}.
        </p>
      ) : null}
      <Chart plot={plot} />
      <details>
        <summary>The same as a table</summary>
        <Table
          caption={`Mentions of ${name} by ${bucket}`}
          rows={spoken}
          rowKey={(b) => b.start}
          columns={[
            bucket === "hour"
              ? { name: "Hour from", of: (b: Bucket) => <Time at={b.start} exact /> }
              : { name: "Day (UTC)", of: (b: Bucket) => <Day of={b.start} /> },
            { name: "In words", of: (b) => inWords(b) },
            { name: "Positive", of: (b) => number(b.positive_count), right: true },
            { name: "Neutral", of: (b) => number(b.neutral_count), right: true },
            { name: "Negative", of: (b) => number(b.negative_count), right: true },
            { name: "Average", of: (b) => number(b.average_sentiment, 2), right: true },
          ]}
        />
      </details>
    </>
  );
}

/** How the feeds do: health, when each is polled next, and when in the day it publishes. */

import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { Chart, color, type Plot } from "../chart";
import { duration, number } from "../format";
import { go, hashOf, useGet, useList, type Place } from "../hooks";
import { Chip, Choice, Empty, Facts, Heading, More, Outside, Shown, Table, Time } from "../parts";

interface Feed {
  feed_id: string;
  health: string;
  url: string;
  name: string | null;
  priority: number;
  interval_minutes: number | null;
  next_fetch_time: string;
  last_fetch_at: string | null;
  last_success_at: string | null;
  last_change_at: string | null;
  last_cause: string | null;
  last_error: string | null;
  consecutive_errors: number;
  unchanged_count: number;
  fetch_count: number;
  avg_articles_per_fetch: number;
  created_total: number;
  merged_total: number;
  rate: number;
  publications_by_hour: number[];
}

interface Fetch {
  due_at: string;
  fetched_at: string;
  verdict: string;
  cause: string;
  message: string | null;
  entries: number;
  created: number;
  merged: number;
  rejected: number;
  rejections: string[] | null;
  dropped: Record<string, number> | null;
  warnings: string[] | null;
  duration_ms: number;
}

const HEALTH: Record<string, string> = { new: "plain", healthy: "positive", failing: "warn", disabled: "negative" };
const FILTERS = [
  ["", "all"],
  ["healthy", "healthy"],
  ["failing", "failing"],
  ["disabled", "disabled"],
  ["new", "never fetched"],
] as const;

export function Feeds({ place }: { place: Place }): JSX.Element {
  return place.id === "" ? <Listed place={place} /> : <One id={place.id} />;
}

function Health({ of }: { of: string }): JSX.Element {
  return <Chip kind={HEALTH[of] ?? "plain"}>{of}</Chip>;
}

function Listed({ place }: { place: Place }): JSX.Element {
  const health = place.query.get("health") ?? "";
  const list = useList<Feed>("/feeds", { health, limit: 100 });
  return (
    <>
      <Heading title="Feeds">In the order in which they are polled next.</Heading>
      <div class="filters">
        <Choice label="Health" value={health} options={FILTERS} onChange={(value) => go("feeds", "", { health: value })} />
      </div>
      <Shown of={list}>
        {(feeds) =>
          feeds.length === 0 ? (
            <Empty>
              No such feed. Add one with <code>sourcebook feeds add URL</code>.
            </Empty>
          ) : (
            <Table
              caption="Feeds by the time of their next poll"
              rows={feeds}
              rowKey={(feed) => feed.feed_id}
              columns={[
                { name: "Feed", of: (feed) => <a href={hashOf("feeds", feed.feed_id)}>{feed.name || feed.feed_id}</a> },
                { name: "Health", of: (feed) => <Health of={feed.health} /> },
                { name: "Next poll", of: (feed) => <Time at={feed.next_fetch_time} /> },
                { name: "Last success", of: (feed) => <Time at={feed.last_success_at} /> },
                { name: "New an hour", of: (feed) => number(feed.rate, 2), right: true },
                { name: "Articles", of: (feed) => number(feed.created_total), right: true },
                { name: "Shared", of: (feed) => number(feed.merged_total), right: true },
              ]}
            />
          )
        }
      </Shown>
      <More of={list} />
    </>
  );
}

function One({ id }: { id: string }): JSX.Element {
  const answer = useGet<Feed>(`/feeds/${encodeURIComponent(id)}`);
  const history = useList<Fetch>(`/feeds/${encodeURIComponent(id)}/history`);
  return (
    <Shown of={answer}>
      {(feed) => (
        <>
          <Heading title={feed.name || feed.feed_id} />
          <Facts
            of={[
              ["Health", <Health of={feed.health} />],
              ["Next poll", <Time at={feed.next_fetch_time} />],
              ["Every", feed.interval_minutes === null ? "–" : `${number(feed.interval_minutes)} min`],
              ["Last success", <Time at={feed.last_success_at} />],
              ["Last change", <Time at={feed.last_change_at} />],
              ["Fetches", `${number(feed.fetch_count)}, the last ${number(feed.unchanged_count)} without news`],
              ["Articles a fetch", number(feed.avg_articles_per_fetch, 2)],
              ["Articles", `${number(feed.created_total)} new, ${number(feed.merged_total)} told by others too`],
              ["Address", <Outside url={feed.url}>{feed.url}</Outside>],
              ...(feed.last_error ? [["Last error", feed.last_error] as const] : []),
            ]}
          />
          {feed.publications_by_hour.some((count) => count > 0) ? <Hours counts={feed.publications_by_hour} /> : null}
          <h2>Fetches that changed something or failed</h2>
          <Shown of={history}>
            {(fetches) =>
              fetches.length === 0 ? (
                <Empty>None in the last 30 days.</Empty>
              ) : (
                <Table
                  caption="Fetches that changed something or failed, newest first"
                  rows={fetches}
                  rowKey={(fetch) => fetch.due_at}
                  columns={[
                    { name: "When", of: (fetch) => <Time at={fetch.fetched_at} /> },
                    {
                      name: "Outcome",
                      of: (fetch) => (
                        <>
                          <Chip kind={fetch.verdict === "changed" ? "positive" : "warn"}>{fetch.message ?? fetch.cause}</Chip>
                          <Doubts of={fetch} />
                        </>
                      ),
                    },
                    { name: "Entries", of: (fetch) => number(fetch.entries), right: true },
                    { name: "New", of: (fetch) => number(fetch.created), right: true },
                    { name: "Shared", of: (fetch) => number(fetch.merged), right: true },
                    { name: "Refused", of: (fetch) => number(fetch.rejected + sum(fetch.dropped)), right: true },
                    { name: "Took", of: (fetch) => duration(fetch.duration_ms), right: true },
                  ]}
                />
              )
            }
          </Shown>
          <More of={history} />
        </>
      )}
    </Shown>
  );
}

function sum(counts: Record<string, number> | null): number {
  return Object.values(counts ?? {}).reduce((total, count) => total + count, 0);
}

/** Why entries of a fetch were left out, and what of it is in doubt. */
function Doubts({ of: fetch }: { of: Fetch }): JSX.Element | null {
  const reasons = [
    ...(fetch.rejections ?? []),
    ...Object.entries(fetch.dropped ?? {}).map(([reason, count]) => `${number(count)} ${reason.replaceAll("_", " ")}`),
    ...(fetch.warnings ?? []),
  ];
  if (reasons.length === 0) return null;
  return (
    <details>
      <summary>{number(reasons.length)} to look at</summary>
      <ul>
        {reasons.map((reason) => (
          <li key={reason}>{reason}</li>
        ))}
      </ul>
    </details>
  );
}

function Hours({ counts }: { counts: number[] }): JSX.Element {
  const plot = useMemo(
    (): Plot => ({
      title: `Entries by hour of the day, UTC: ${counts.join(", ")}`,
      data: [counts.map((_, hour) => hour), counts],
      lines: [{ label: "entries", color: color(0), kind: "bars", digits: 0 }],
      time: false,
      xLabel: "hour of the day (UTC)",
      height: 200,
    }),
    [counts],
  );
  return (
    <>
      <h2>When it publishes</h2>
      <Chart plot={plot} />
    </>
  );
}

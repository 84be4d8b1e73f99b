/** One feed: how it does, why it fails and what to do, and everything that can be changed of it. */

import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import { sendAs, useDoing } from "../access";
import { Chart, color, type Plot } from "../chart";
import { duration, number } from "../format";
import { go, hashOf, useGet, useList, useWatch, type Answer } from "../hooks";
import { Chip, Empty, Facts, Field, Heading, More, Opened, Outside, Shown, Table, Time, Trouble } from "../parts";
import { Health } from "./feeds";
import { advice, type Feed } from "./feed-words";

interface Fetch {
  due_at: string;
  fetched_at: string;
  verdict: string;
  cause: string;
  message: string | null;
  http_status: number | null;
  entries: number;
  created: number;
  merged: number;
  rejected: number;
  rejections: string[] | null;
  dropped: Record<string, number> | null;
  warnings: string[] | null;
  duration_ms: number;
}

export function One({ id }: { id: string }): JSX.Element {
  const answer = useGet<Feed>(`/feeds/${encodeURIComponent(id)}`);
  return <Shown of={answer} heading="Feed">{(feed) => <Known feed={feed} answer={answer} />}</Shown>;
}

function Known({ feed, answer }: { feed: Feed; answer: Answer<Feed> }): JSX.Element {
  const path = `/feeds/${encodeURIComponent(feed.feed_id)}`;
  const history = useList<Fetch>(`${path}/history`);
  return (
    <>
      <Heading title={feed.name || feed.feed_id} />
      {feed.consecutive_errors > 0 ? <Failing feed={feed} /> : null}
      <Manage feed={feed} answer={answer} again={history.again} />
      <Facts
        of={[
          ["Health", <Health of={feed.health} />],
          ["Next poll", <Time at={feed.next_fetch_time} />],
          ["At least every", feed.interval_minutes === null ? "–" : `${number(feed.interval_minutes)} min`],
          ["Last success", <Time at={feed.last_success_at} />],
          ["Last change", <Time at={feed.last_change_at} />],
          ["Fetches", `${number(feed.fetch_count)}, the last ${number(feed.unchanged_count)} without news`],
          ["Articles a fetch", number(feed.avg_articles_per_fetch, 2)],
          [
            "Articles",
            <>
              <a href={hashOf("articles", "", { source: feed.feed_id })}>{number(feed.created_total)} new</a>,{" "}
              {number(feed.merged_total)} reported by others too
            </>,
          ],
          ["Address", <Outside url={feed.url}>{feed.url}</Outside>],
          ...(feed.tags.length > 0 ? [["Tags", feed.tags.join(", ")] as const] : []),
        ]}
      />
      <Schedule path={path} />
      {feed.publications_by_hour.some((count) => count > 0) ? <Hours counts={feed.publications_by_hour} /> : null}
      <h2>Last answers</h2>
      <p class="soft">Fetches that changed something or failed, newest first.</p>
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
                { name: "Status", of: (fetch) => (fetch.http_status === null ? "–" : String(fetch.http_status)), right: true },
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

function Failing({ feed }: { feed: Feed }): JSX.Element {
  const [what, todo] = advice(feed.last_cause);
  return (
    <div class="problem">
      <p>
        <strong>{what}</strong> {feed.consecutive_errors === 1 ? "It has failed once" : `It has failed ${feed.consecutive_errors} times in a row`}
        {feed.last_success_at === null ? ", and never worked" : <>; it worked last <Time at={feed.last_success_at} /></>}.
      </p>
      <p>{feed.last_error}</p>
      <p>
        <strong>What to do:</strong> {todo}
      </p>
    </div>
  );
}

function Manage({ feed, answer, again }: { feed: Feed; answer: Answer<Feed>; again: () => void }): JSX.Element {
  const path = `/feeds/${encodeURIComponent(feed.feed_id)}`;
  const { busy, problem, act } = useDoing();
  const [open, setOpen] = useState<"" | "change" | "delete">("");
  const [since, setSince] = useState<string | null>(null);
  // What was asked for at once is watched until it is done, at most as long as a poll takes to come round.
  const isWatched = since !== null && (feed.last_fetch_at ?? "") < since;
  useWatch(answer, isWatched, 3);
  const change = (name: string, body: Record<string, unknown>, fetches: boolean): void => {
    void act(name, async () => {
      await sendAs(path, { method: "PATCH", body });
      if (fetches) setSince(new Date().toISOString());
      setOpen("");
      answer.again();
      again();
    });
  };
  return (
    <>
      <p class="buttons">
        {feed.enabled ? (
          <>
            <button type="button" disabled={busy !== ""} onClick={() => change("fetch", { enabled: true }, true)}>
              {busy === "fetch" ? "Asking …" : "Fetch now"}
            </button>
            <button type="button" disabled={busy !== ""} onClick={() => change("disable", { enabled: false }, false)}>
              Disable
            </button>
          </>
        ) : (
          <button type="button" disabled={busy !== ""} onClick={() => change("enable", { enabled: true }, true)}>
            Enable
          </button>
        )}
        <button type="button" aria-expanded={open === "change"} onClick={() => setOpen(open === "change" ? "" : "change")}>
          Change
        </button>
        <button type="button" aria-expanded={open === "delete"} onClick={() => setOpen(open === "delete" ? "" : "delete")}>
          Delete
        </button>
        <span role="status" class="soft">
          {isWatched ? "It is due now and fetched within a minute …" : since === null ? "" : "Fetched."}
        </span>
      </p>
      {problem === null ? null : <Trouble of={problem} />}
      {open === "change" ? <Changes feed={feed} busy={busy !== ""} send={(body) => change("change", body, "url" in body)} /> : null}
      {open === "delete" ? (
        <div class="problem">
          <p>
            Delete this feed with its history? Its {number(feed.created_total)} articles stay until they expire. To stop it for a
            while, disable it.
          </p>
          <p class="buttons">
            <button
              type="button"
              class="danger"
              disabled={busy !== ""}
              onClick={() =>
                void act("delete", async () => {
                  await sendAs(path, { method: "DELETE" });
                  go("feeds");
                })
              }
            >
              Delete {feed.name || feed.feed_id}
            </button>
            <button type="button" onClick={() => setOpen("")}>
              Keep it
            </button>
          </p>
        </div>
      ) : null}
    </>
  );
}

function Changes({ feed, busy, send }: { feed: Feed; busy: boolean; send: (body: Record<string, unknown>) => void }): JSX.Element {
  const [url, setUrl] = useState(feed.url);
  const [name, setName] = useState(feed.name ?? "");
  const [minutes, setMinutes] = useState(String(feed.interval_minutes ?? ""));
  const [priority, setPriority] = useState(String(feed.priority));
  const [tags, setTags] = useState(feed.tags.join(", "));
  const changed = {
    ...(url.trim() === feed.url ? {} : { url: url.trim(), ...(feed.enabled ? {} : { enabled: true }) }),
    ...(name.trim() === (feed.name ?? "") ? {} : { name: name.trim() }),
    ...(minutes === String(feed.interval_minutes ?? "") || minutes === "" ? {} : { interval_minutes: Number(minutes) }),
    ...(priority === String(feed.priority) ? {} : { priority: Number(priority) }),
    ...(tags === feed.tags.join(", ") ? {} : { tags: tags.split(",").map((tag) => tag.trim()).filter((tag) => tag !== "") }),
  };
  return (
    <form
      class="review panel"
      onSubmit={(event) => {
        event.preventDefault();
        send(changed);
      }}
    >
      <Field label="Address" type="url" required value={url} onInput={setUrl} hint="A new address is fetched at once; articles and id stay." />
      <Field label="Name" value={name} onInput={setName} />
      <Field
        label="At least every … minutes"
        type="number"
        min={1}
        max={1440}
        value={minutes}
        onInput={setMinutes}
        hint="Polling may choose less."
      />
      <Field label="Priority" type="number" min={0} max={9999} value={priority} onInput={setPriority} hint="Of those due, the lower number is fetched first." />
      <Field label="Tags, with commas" value={tags} onInput={setTags} hint="Given to all its articles." />
      <button type="submit" disabled={busy || Object.keys(changed).length === 0}>
        {busy ? "Saving …" : "Save"}
      </button>
    </form>
  );
}

function Schedule({ path }: { path: string }): JSX.Element {
  return (
    <Opened summary="Why the next poll is when it is">
      <Reasons path={path} />
    </Opened>
  );
}

function Reasons({ path }: { path: string }): JSX.Element {
  const answer = useGet<{ reasons: string[] }>(`${path}/schedule`);
  return (
    <Shown of={answer}>
      {({ reasons }) => (
        <ul>
          {reasons.map((reason) => (
            <li key={reason}>{reason}</li>
          ))}
        </ul>
      )}
    </Shown>
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

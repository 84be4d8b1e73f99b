/** Adding feeds: by the address of a site or of a feed, or many at once from an OPML file. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { sendAs, useDoing } from "../access";
import { hashOf, useGet, useWatch } from "../hooks";
import { Facts, Field, Outside, Time, Trouble } from "../parts";
import { advice, type Feed } from "./feed-words";

interface Added extends Feed {
  created: boolean;
  found?: { how: string; others: string[] };
}

interface Report {
  added: string[];
  known: string[];
  problem_count: number;
  problems: { line: number; message: string }[];
  mended: string | null;
}

const HOW: Record<string, string> = {
  is_feed: "the address is the feed's own",
  announced: "the page announces it",
  common_path: "it is where such sites have their feed",
};

export function AddFeed(): JSX.Element {
  const [address, setAddress] = useState("");
  const [added, setAdded] = useState<Added[]>([]);
  const { busy, problem, act } = useDoing();
  const add = async (body: Record<string, unknown>): Promise<void> => {
    const feed = await sendAs<Added>("/feeds", { method: "POST", body });
    setAdded((before) => [feed, ...before.filter((one) => one.feed_id !== feed.feed_id)]);
  };
  const find = (event: Event): void => {
    event.preventDefault();
    const typed = address.trim();
    const site = /^[a-z][a-z0-9+.-]*:/i.test(typed) ? typed : `https://${typed}`;
    void act("add", async () => {
      await add({ site });
      setAddress("");
    });
  };
  return (
    <section class="panel" aria-labelledby="add-title">
      <h2 id="add-title">Add feeds</h2>
      <form class="filters" onSubmit={find}>
        <Field
          wide
          label="Address of a site or of its feed"
          value={address}
          onInput={setAddress}
          placeholder="news.example"
          required
        />
        <button type="submit" disabled={busy !== ""}>
          {busy === "add" ? "Looking …" : "Find and add"}
        </button>
      </form>
      {problem === null ? null : <Trouble of={problem} />}
      <div role="status">
        {added.map((feed) => (
          <Preview
            key={feed.feed_id}
            feed={feed}
            add={(url) => void act("other", () => add({ url }))}
            forget={() => setAdded((before) => before.filter((one) => one.feed_id !== feed.feed_id))}
          />
        ))}
      </div>
      <Import />
    </section>
  );
}

/** What was found, what its first fetch brings, what else the site announces, and the way back. */
function Preview({ feed, add, forget }: { feed: Added; add: (url: string) => void; forget: () => void }): JSX.Element {
  const path = `/feeds/${encodeURIComponent(feed.feed_id)}`;
  const now = useGet<Feed>(path);
  const { busy, problem, act } = useDoing();
  const isFetched = (now.value?.last_fetch_at ?? null) !== null;
  useWatch(now, !isFetched, 3);
  const undo = (): void => {
    void act("undo", async () => {
      await sendAs(path, { method: "DELETE" });
      forget();
    });
  };
  const failed = (now.value?.consecutive_errors ?? 0) > 0;
  return (
    <div class="good">
      <p>
        <strong>
          <a href={hashOf("feeds", feed.feed_id)}>{feed.name || feed.feed_id}</a>
        </strong>{" "}
        {feed.created ? "is added" : "was there already"}
        {feed.found ? `: ${HOW[feed.found.how] ?? feed.found.how}` : ""}.
      </p>
      <Facts
        of={[
          ["Address", <Outside url={feed.url}>{feed.url}</Outside>],
          [
            "First fetch",
            isFetched ? (
              failed ? (
                `${advice(now.value?.last_cause ?? null)[0]} ${now.value?.last_error ?? ""}`
              ) : (
                `${now.value?.last_entries ?? 0} entries, ${now.value?.created_total ?? 0} new articles`
              )
            ) : (
              <>
                due <Time at={feed.next_fetch_time} />, within a minute
              </>
            ),
          ],
        ]}
      />
      {feed.found && feed.found.others.length > 0 ? (
        <>
          <p>The page announces others too:</p>
          <ul>
            {feed.found.others.map((url) => (
              <li key={url}>
                <Outside url={url}>{url}</Outside>{" "}
                <button type="button" class="small" aria-label={`Add it too: ${url}`} onClick={() => add(url)}>
                  Add it too
                </button>
              </li>
            ))}
          </ul>
        </>
      ) : null}
      {problem === null ? null : <Trouble of={problem} />}
      {feed.created ? (
        <button type="button" class="small" disabled={busy !== ""} onClick={undo}>
          Undo: take it away again
        </button>
      ) : null}
    </div>
  );
}

function Import(): JSX.Element {
  const [report, setReport] = useState<Report | null>(null);
  const [name, setName] = useState("");
  const { busy, problem, act } = useDoing();
  const take = (file: File | undefined): void => {
    if (file === undefined) return;
    setName(file.name);
    setReport(null);
    void act("import", async () => {
      setReport(await sendAs<Report>("/feeds/import", { method: "POST", body: await file.text(), type: "text/x-opml" }));
    });
  };
  return (
    <>
      <label class="field">
        <span>Or many at once: an OPML file, as every reader of feeds exports one</span>
        <input
          type="file"
          accept=".opml,.xml,text/x-opml"
          onChange={(event) => {
            take(event.currentTarget.files?.[0]);
            event.currentTarget.value = "";
          }}
        />
      </label>
      <div role="status">
        {busy === "" ? null : <p>Reading {name} …</p>}
        {report === null ? null : <Imported report={report} name={name} />}
      </div>
      {problem === null ? null : <Trouble of={problem} />}
    </>
  );
}

function Imported({ report, name }: { report: Report; name: string }): JSX.Element {
  return (
    <div class="good">
      <p>
        <strong>{name}</strong>: {report.added.length} added, {report.known.length} there already, {report.problem_count}{" "}
        left out or taken in part.
      </p>
      {report.mended === null ? null : <p>The file itself was mended: {report.mended}</p>}
      {report.problems.length === 0 ? null : (
        <ul>
          {report.problems.map((one) => (
            <li key={`${one.line} ${one.message}`}>
              line {one.line}: {one.message}
            </li>
          ))}
        </ul>
      )}
      {report.added.length === 0 ? null : (
        <details>
          <summary>The new ones</summary>
          <ul class="chips">
            {report.added.map((id) => (
              <li key={id}>
                <a class="chip plain" href={hashOf("feeds", id)}>
                  {id}
                </a>
              </li>
            ))}
          </ul>
        </details>
      )}
    </div>
  );
}

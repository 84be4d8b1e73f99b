/** How the sources do: the feeds with what can be done to each, and the sources of every kind. */

import type { JSX } from "preact";
import { number } from "../format";
import { Download } from "../download";
import { go, hashOf, useList, type Place } from "../hooks";
import { Chip, Choice, Empty, Heading, More, Outside, Shown, Table, Time } from "../parts";
import { AddFeed } from "./feed-add";
import { One } from "./feed";
import { HEALTH, type Feed } from "./feed-words";

interface Source {
  source_id: string;
  health: string;
  kind: string;
  name: string | null;
  url: string;
  next_fetch_time: string;
  last_success_at: string | null;
  last_error: string | null;
  consecutive_errors: number;
  articles: number;
}

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

export function Health({ of }: { of: string }): JSX.Element {
  return <Chip kind={HEALTH[of] ?? "plain"}>{of}</Chip>;
}

function Listed({ place }: { place: Place }): JSX.Element {
  const health = place.query.get("health") ?? "";
  const every = place.query.get("kinds") === "all";
  const adding = place.query.get("add") !== null;
  const kinds = every ? "all" : "";
  return (
    <>
      <Heading title={every ? "Sources" : "Feeds"} tab={health === "" ? (every ? "Sources" : "Feeds") : `Feeds, ${health}`}>
        By the day of their next poll, then by their ids.
      </Heading>
      <div class="filters">
        <Choice label="Health" value={health} options={FILTERS} onChange={(value) => go("feeds", "", { health: value, kinds })} />
        <a href={hashOf("feeds", "", { health })} aria-current={every ? undefined : "page"}>
          feeds
        </a>
        <a href={hashOf("feeds", "", { health, kinds: "all" })} aria-current={every ? "page" : undefined}>
          sources of all kinds
        </a>
        {adding ? null : (
          <a class="button" href={hashOf("feeds", "", { health, kinds, add: "1" })}>
            Add feeds
          </a>
        )}
        <Download path="/feeds.opml" name="feeds.opml">
          Export OPML
        </Download>
      </div>
      {adding ? <AddFeed /> : null}
      {every ? <EverySource health={health} /> : <EveryFeed health={health} />}
    </>
  );
}

function EveryFeed({ health }: { health: string }): JSX.Element {
  const list = useList<Feed>("/feeds", { health, limit: 100 });
  return (
    <>
      <Shown of={list}>
        {(feeds) =>
          feeds.length === 0 ? (
            <Empty>
              {health === "" ? "There is no feed yet." : `No feed is ${health}.`}{" "}
              <a href={hashOf("feeds", "", { add: "1" })}>Add a feed by its site's address</a>
            </Empty>
          ) : (
            <Table
              caption="Feeds by the day of their next poll"
              rows={feeds}
              rowKey={(feed) => feed.feed_id}
              columns={[
                { name: "Feed", of: (feed) => <a href={hashOf("feeds", feed.feed_id)}>{feed.name || feed.feed_id}</a> },
                {
                  name: "Health",
                  of: (feed) => (
                    <>
                      <Health of={feed.health} />
                      {feed.consecutive_errors > 0 ? (
                        <span class="soft">
                          {" "}
                          {feed.consecutive_errors === 1 ? "once" : `${feed.consecutive_errors} times`}: {feed.last_error}
                        </span>
                      ) : null}
                    </>
                  ),
                },
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

function EverySource({ health }: { health: string }): JSX.Element {
  const list = useList<Source>("/sources", { health, limit: 100 });
  return (
    <>
      <Shown of={list}>
        {(sources) =>
          sources.length === 0 ? (
            <Empty>There is no such source.</Empty>
          ) : (
            <Table
              caption="Sources of all kinds by the day of their next poll"
              rows={sources}
              rowKey={(source) => source.source_id}
              columns={[
                {
                  name: "Source",
                  of: (source) =>
                    source.kind === "feed" ? (
                      <a href={hashOf("feeds", source.source_id)}>{source.name || source.source_id}</a>
                    ) : (
                      <Outside url={source.url}>{source.name || source.source_id}</Outside>
                    ),
                },
                { name: "Kind", of: (source) => source.kind.replaceAll("_", " ") },
                {
                  name: "Health",
                  of: (source) => (
                    <>
                      <Health of={source.health} /> <span class="soft">{source.consecutive_errors > 0 ? source.last_error : null}</span>
                    </>
                  ),
                },
                { name: "Next poll", of: (source) => <Time at={source.next_fetch_time} /> },
                { name: "Last success", of: (source) => <Time at={source.last_success_at} /> },
                { name: "Articles", of: (source) => number(source.articles), right: true },
              ]}
            />
          )
        }
      </Shown>
      <More of={list} />
    </>
  );
}

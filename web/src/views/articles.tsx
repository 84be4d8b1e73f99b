/** The newest articles, each with every source's own word beside the others'; one search finds among them. */

import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { address, get, type Page } from "../api";
import { Download } from "../download";
import { go, hashOf, useList, type Place } from "../hooks";
import { Choice, Empty, Heading, More, Shown } from "../parts";
import { Story, type Article } from "./story";
import { One } from "./article";

const SENTIMENTS = [
  ["", "any"],
  ["positive", "positive"],
  ["neutral", "neutral"],
  ["negative", "negative"],
] as const;

const PERIODS = [
  ["", "30 days"],
  ["24h", "the last day"],
  ["7d", "the last 7 days"],
] as const;

const EXAMPLES = [
  ["ferry harbor", "both words"],
  ['"record orders"', "words side by side"],
  ["ferry OR tram", "one of them"],
  ["-strike", "without it"],
  ["source:harbor-ledger", "of a source"],
  ["subject:Apple", "that mention a subject"],
  ["sentiment:negative", "of a sentiment"],
  ["lang:en", "in a language"],
  ["since:7d", "since, also until:"],
] as const;

/** Parameters of the list that are kept in the page's address, each as a chip that can be taken away. */
const KEPT = ["q", "sentiment", "tag", "source", "subject", "lang", "since", "until", "order"] as const;
type Asked = Record<(typeof KEPT)[number], string>;

/** A filter within the search, such as `since:7d` or `-source:x`; quotation marks hold a value together. */
const FILTER = /(?:^|\s)(-?(?:source|subject|tag|sentiment|lang|since|until):(?:"[^"]*"|\S+))/g;

export function Articles({ place }: { place: Place }): JSX.Element {
  return place.id === "" ? <Newest place={place} /> : <One id={place.id} />;
}

function filters(q: string): string[] {
  return [...q.matchAll(FILTER)].map((match) => match[1] ?? "");
}

function without(q: string, filter: string): string {
  return q.replace(filter, "").replace(/\s+/g, " ").trim();
}

/** The search as an alert takes it: with the filters chosen beside it, without a time. */
function untimed(asked: Asked): string {
  const beside = (["sentiment", "tag", "source", "subject", "lang"] as const)
    .filter((name) => asked[name] !== "")
    .map((name) => `${name}:${/\s/.test(asked[name]) ? `"${asked[name]}"` : asked[name]}`);
  const times = filters(asked.q).filter((filter) => /^-?(since|until):/.test(filter));
  return [times.reduce(without, asked.q), ...beside].join(" ").trim();
}

function Newest({ place }: { place: Place }): JSX.Element {
  const asked = Object.fromEntries(KEPT.map((name) => [name, place.query.get(name) ?? ""])) as Asked;
  const list = useList<Article>("/articles", asked);
  const [typed, setTyped] = useState(asked.q);
  useEffect(() => setTyped(asked.q), [asked.q]);
  const to = (changes: Partial<Asked>): void => go("articles", "", { ...asked, ...changes });
  const period = filters(asked.q).find((filter) => filter.startsWith("since:"))?.slice(6) ?? "";
  const choosePeriod = (value: string): void =>
    to({ q: `${period === "" ? asked.q : without(asked.q, `since:${period}`)} ${value && `since:${value}`}`.trim() });
  const choices = [asked.q, asked.sentiment, asked.tag].filter((one) => one !== "").join(" · ");
  const searched = Object.values(asked).some((value) => value !== "");
  return (
    <>
      <Heading title="Articles" tab={choices === "" ? "Articles" : `${choices} – Articles`}>
        The newest first. Each story is listed once, with the attribution of every source.
      </Heading>
      <form
        class="filters"
        role="search"
        onSubmit={(event) => {
          event.preventDefault();
          to({ q: typed.trim(), order: typed.trim() === "" ? "" : asked.order });
        }}
      >
        <label class="field wide">
          <span>Search</span>
          <input
            type="search"
            value={typed}
            maxLength={400}
            onInput={(event) => setTyped(event.currentTarget.value)}
            placeholder={'ferry "record orders" -strike since:7d'}
          />
        </label>
        <button type="submit">Search</button>
        <Choice label="Sentiment" value={asked.sentiment} options={SENTIMENTS} onChange={(sentiment) => to({ sentiment })} />
        <Choice
          label="Period"
          value={period}
          options={PERIODS.some(([key]) => key === period) ? PERIODS : [...PERIODS, [period, `since ${period}`]]}
          onChange={choosePeriod}
        />
        {asked.q === "" ? null : (
          <Choice
            label="Order"
            value={asked.order}
            options={[
              ["", "newest"],
              ["rank", "best fit"],
            ]}
            onChange={(order) => to({ order })}
          />
        )}
      </form>
      <Chips asked={asked} to={to} />
      <details class="howto">
        <summary>How to search, follow and take away</summary>
        <dl class="keys">
          {EXAMPLES.map(([example, what]) => (
            <div key={example}>
              <dt>
                <button type="button" class="small" onClick={() => to({ q: `${typed.trim()} ${example}`.trim() })}>
                  {example}
                </button>
              </dt>
              <dd>{what}</dd>
            </div>
          ))}
        </dl>
        <p class="buttons">
          <a href={address("/articles.atom", asked)}>Follow</a> in a reader of feeds, as{" "}
          <a href={address("/articles.json", asked)}>JSON Feed</a>, or take this page:{" "}
          <Download path="/articles.csv" query={{ ...asked, limit: 100 }} name="articles.csv">
            CSV
          </Download>
          {asked.q === "" ? null : <a href={hashOf("alerts", "", { add: "article", q: untimed(asked) })}>Report new ones</a>}
        </p>
      </details>
      {searched ? null : <News shown={list.value} again={list.again} />}
      <Shown of={list}>
        {(articles) =>
          articles.length === 0 ? (
            <Empty>
              No article fits.{" "}
              {searched ? (
                <a href={hashOf("articles")}>Take all filters away</a>
              ) : (
                <>
                  The first come with the next poll of a source. <a href={hashOf("feeds", "", { add: "1" })}>Add a feed</a>
                </>
              )}
            </Empty>
          ) : (
            <ol class="articles">
              {articles.map((article) => (
                <li key={article.dedup_key}>
                  <Story article={article} />
                </li>
              ))}
            </ol>
          )
        }
      </Shown>
      <More of={list} />
    </>
  );
}

function Chips({ asked, to }: { asked: Asked; to: (changes: Partial<Asked>) => void }): JSX.Element | null {
  const inside = filters(asked.q).map((filter) => [filter, { q: without(asked.q, filter) }] as const);
  const beside = KEPT.filter((name) => name !== "q" && name !== "order" && asked[name] !== "").map(
    (name) => [`${name}:${asked[name]}`, { [name]: "" } as Partial<Asked>] as const,
  );
  const chips = [...beside, ...inside];
  return chips.length === 0 ? null : (
    <ul class="chips" aria-label="Filters">
      {chips.map(([text, changes]) => (
        <li key={text}>
          <button type="button" class="chip plain" aria-label={`Take away ${text}`} onClick={() => to(changes)}>
            {text} <span aria-hidden="true">×</span>
          </button>
        </li>
      ))}
    </ul>
  );
}

/** How many articles have come since, asked once a minute; the list stays where it is until one wants them. */
function News({ shown, again }: { shown: Article[] | null; again: () => void }): JSX.Element | null {
  const [count, setCount] = useState(0);
  useEffect(() => {
    setCount(0);
    if (shown === null) return undefined;
    const known = new Set(shown.map((article) => article.dedup_key));
    const timer = setInterval(() => {
      if (document.hidden || !navigator.onLine) return;
      get<Page<Article>>("/articles", { limit: 20 }).then(
        ({ items }) => setCount(items.filter((article) => !known.has(article.dedup_key)).length),
        () => setCount(0),
      );
    }, 60_000);
    return () => clearInterval(timer);
  }, [shown]);
  return (
    <p role="status" class="news">
      {count === 0 ? null : (
        <button type="button" onClick={again}>
          {count === 20 ? "20 or more" : count} new: show them
        </button>
      )}
    </p>
  );
}


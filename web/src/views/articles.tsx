/** The newest articles, each with every source's own word beside the others'. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { address } from "../api";
import { hashOf, useGet, useList, type Place, go } from "../hooks";
import { Chip, Choice, Empty, Feeling, Heading, More, Outside, Published, Shown, Time } from "../parts";

interface Attribution {
  url: string | null;
  original_headline: string;
  published_at: string;
  crawl_timestamp: string;
  source_name?: string;
}

export interface Article {
  dedup_key: string;
  timestamp: string;
  headline: string;
  sources: string[];
  source_attribution: Record<string, Attribution>;
  status: string;
  sentiment: string | null;
  score: number | null;
  tags: string[];
  text_for_analysis: string | null;
  event_id: string | null;
}

const SENTIMENTS = [
  ["", "any"],
  ["positive", "positive"],
  ["neutral", "neutral"],
  ["negative", "negative"],
] as const;

export function Articles({ place }: { place: Place }): JSX.Element {
  return place.id === "" ? <Newest place={place} /> : <One id={place.id} />;
}

function Newest({ place }: { place: Place }): JSX.Element {
  const sentiment = place.query.get("sentiment") ?? "";
  const tag = place.query.get("tag") ?? "";
  const q = place.query.get("q") ?? "";
  const list = useList<Article>("/articles", { q, sentiment, tag });
  const [typed, setTyped] = useState(tag);
  const [asked, setAsked] = useState(q);
  return (
    <>
      <Heading title="Articles">The newest first. Each story stands here once, with what every source said of it.</Heading>
      <form
        class="filters"
        role="search"
        onSubmit={(event) => {
          event.preventDefault();
          go("articles", "", { q: asked.trim(), sentiment, tag: typed.trim() });
        }}
      >
        <Choice
          label="Sentiment"
          value={sentiment}
          options={SENTIMENTS}
          onChange={(value) => go("articles", "", { q, sentiment: value, tag })}
        />
        <label class="field">
          <span>Search</span>
          <input
            type="search"
            value={asked}
            onInput={(event) => setAsked(event.currentTarget.value)}
            placeholder={'ferry "record orders" -strike since:7d'}
          />
        </label>
        <label class="field">
          <span>Tag or ticker</span>
          <input value={typed} onInput={(event) => setTyped(event.currentTarget.value)} placeholder="AAPL" />
        </label>
        <button type="submit">Filter</button>
        <a href={address("/articles.atom", { q, sentiment, tag })}>Follow</a>
      </form>
      <Shown of={list}>
        {(articles) =>
          articles.length === 0 ? (
            <Empty>
              No article fits. {q !== "" || tag !== "" || sentiment !== "" ? "Loosen the filter" : "The first come with the next poll of a source"}.
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

function One({ id }: { id: string }): JSX.Element {
  const answer = useGet<Article>(`/articles/${encodeURIComponent(id)}`);
  return (
    <>
      <Heading title="Article" />
      <Shown of={answer}>
        {(article) => (
          <>
            <Story article={article} open />
            {article.text_for_analysis ? <p class="prose">{article.text_for_analysis}</p> : null}
          </>
        )}
      </Shown>
    </>
  );
}

function Story({ article, open = false }: { article: Article; open?: boolean }): JSX.Element {
  const told = article.sources
    .map((source) => [source, article.source_attribution[source]] as const)
    .filter((pair): pair is readonly [string, Attribution] => pair[1] !== undefined);
  return (
    <article class="story">
      <h2>
        <a href={hashOf("articles", article.dedup_key)}>{article.headline}</a>
      </h2>
      <p class="about">
        <Published at={article.timestamp} /> <Feeling label={article.sentiment} score={article.score} />{" "}
        {article.tags.map((tag) => (
          <a key={tag} class="chip plain" href={hashOf("articles", "", { tag })}>
            {tag}
          </a>
        ))}
        {article.event_id ? (
          <a class="chip plain" href={hashOf("events", article.event_id)}>
            one of several on this event
          </a>
        ) : null}
      </p>
      <details open={open}>
        <summary>
          {told.length === 1 ? `Told by ${told[0]?.[0] ?? ""}` : `Told by ${told.length} sources: ${article.sources.join(", ")}`}
        </summary>
        <ul class="words">
          {told.map(([source, word]) => (
            <li key={source}>
              <Chip kind="plain">{word.source_name ?? source}</Chip>
              <blockquote>
                <Outside url={word.url}>{word.original_headline}</Outside>
              </blockquote>
              <p class="about">
                published <Published at={word.published_at} exact />, seen <Time at={word.crawl_timestamp} />
              </p>
            </li>
          ))}
        </ul>
      </details>
    </article>
  );
}

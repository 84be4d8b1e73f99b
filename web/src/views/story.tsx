/** One story, as every list of articles shows it. */

import type { ComponentChildren, JSX } from "preact";
import { hashOf } from "../hooks";
import { Chip, Feeling, Outside, Published, Time } from "../parts";

export interface Attribution {
  url: string | null;
  original_headline: string;
  published_at: string | null;
  crawl_timestamp: string;
  source_name?: string;
}

export interface Article {
  dedup_key: string;
  timestamp: string;
  headline: string;
  normalized_headline: string;
  sources: string[];
  source_attribution: Record<string, Attribution>;
  status: string;
  sentiment: string | null;
  score: number | null;
  tags: string[];
  mentions: { tag: string; sentiment: string; score: number | null; is_own: boolean }[];
  text_for_analysis: string | null;
  event_id: string | null;
}

/** The attribution of each source, with its id, in the order in which they came. */
export function attributions(article: Article): (readonly [string, Attribution])[] {
  return article.sources
    .map((source) => [source, article.source_attribution[source]] as const)
    .filter((pair): pair is readonly [string, Attribution] => pair[1] !== undefined);
}

/** A headline without the publisher's name behind it, where that is the name of a source that reported it. */
export function clean(article: Article): string {
  const cut = /^(.{10,})\s[|–—-]\s([^|–—]{2,40})$/u.exec(article.headline);
  if (cut === null) return article.headline;
  const publisher = letters(cut[2] ?? "");
  const names = attributions(article).flatMap(([source, attribution]) => [source, attribution.source_name ?? ""]);
  return publisher !== "" && names.some((name) => letters(name) === publisher) ? (cut[1] ?? "").trim() : article.headline;
}

function letters(text: string): string {
  return text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");
}

export function Words({ article, beside }: { article: Article; beside?: (source: string) => ComponentChildren }): JSX.Element {
  return (
    <ul class="words">
      {attributions(article).map(([source, attribution]) => (
        <li key={source}>
          <Chip kind="plain">{attribution.source_name ?? source}</Chip>
          <blockquote dir="auto">
            <Outside url={attribution.url}>{attribution.original_headline}</Outside>
          </blockquote>
          <p class="about">
            published <Published at={attribution.published_at} exact />, seen <Time at={attribution.crawl_timestamp} /> {beside?.(source)}
          </p>
        </li>
      ))}
    </ul>
  );
}

/** Tags that differ by more than case: a subject and a source's own word for it are one chip. */
function distinct(tags: string[]): string[] {
  const seen = new Set<string>();
  return tags.filter((tag) => !seen.has(tag.toLowerCase()) && seen.add(tag.toLowerCase()));
}

export function Marks({ article }: { article: Article }): JSX.Element {
  return (
    <p class="about">
      <Published at={article.timestamp} /> <Feeling label={article.sentiment} score={article.score} />{" "}
      {distinct(article.tags).map((tag) => (
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
  );
}

export function Story({ article }: { article: Article }): JSX.Element {
  const reports = attributions(article);
  return (
    <article class="story">
      <h2 dir="auto">
        <a href={hashOf("articles", article.dedup_key)}>{clean(article)}</a>
      </h2>
      <Marks article={article} />
      <details>
        <summary>
          {reports.length === 1 ? `Reported by ${reports[0]?.[0] ?? ""}` : `Reported by ${reports.length} sources: ${article.sources.join(", ")}`}
        </summary>
        <Words article={article} />
      </details>
    </article>
  );
}

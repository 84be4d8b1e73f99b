/** One article: who reported it, why their reports are one, and what it mentions. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { go, hashOf, useGet } from "../hooks";
import { Chip, Empty, Facts, Feeling, Heading, Published, Shown, Table } from "../parts";
import { Decide, Decisions, useDecided, type Decision } from "./decide";
import { attributions, clean, Marks, Words, type Article } from "./story";

export function One({ id }: { id: string }): JSX.Element {
  const answer = useGet<Article>(`/articles/${encodeURIComponent(id)}`);
  const [turn, loadAnew] = useDecided(answer);
  /** Go on with the article that stays, as it is now. */
  const decided = ({ about: [stays = id] }: Decision): void => (stays === id ? loadAnew() : go("articles", stays));
  return (
    <Shown of={answer} heading="Article">
      {(article) => <Read key={turn} article={article} isOther={DEDUP_KEY.test(id) && article.dedup_key !== id} decided={decided} />}
    </Shown>
  );
}

const DEDUP_KEY = /^[0-9a-f]{32}$/;

interface Reading {
  article: Article;
  /** Whether another one was asked for, for which this one answers. */
  isOther: boolean;
  decided: (decision: Decision) => void;
}

function Read({ article, isOther, decided }: Reading): JSX.Element {
  const [splitting, setSplitting] = useState("");
  const reports = attributions(article);
  const text = article.text_for_analysis ?? "";
  return (
    <article>
      <Heading title={clean(article)}>{isOther ? "The article of this address was joined to this one." : null}</Heading>
      <Marks article={article} />
      <h2>{reports.length === 1 ? "Reported by one source" : `Reported by ${reports.length} sources`}</h2>
      <Words
        article={article}
        beside={(source) =>
          reports.length === 1 ? null : (
            <button type="button" class="small" aria-label={`Split off ${source}`} onClick={() => setSplitting(source)}>
              Split off
            </button>
          )
        }
      />
      {splitting === "" ? null : (
        <Decide
          key={splitting}
          action="split_article"
          body={{ article_id: article.dedup_key, source: splitting }}
          title={`Split off ${splitting}`}
          follows="What it says here gets an article of its own, and so does all that it says of this later. Both are analyzed anew. It can be taken back."
          focus
          decided={decided}
        />
      )}
      {text === "" || text === article.headline ? null : (
        <>
          <h2>What they say</h2>
          <p class="prose" dir="auto">
            {text}
          </p>
        </>
      )}
      {reports.length > 1 ? <Merged article={article} /> : null}
      <h2>What it mentions</h2>
      {article.mentions.length === 0 ? (
        <Empty>{article.status === "analyzed" ? "Nothing that is followed." : "It is not analyzed yet."}</Empty>
      ) : (
        <ul class="mentions">
          {article.mentions.map(({ tag, sentiment, score, is_own }) => (
            <li key={tag}>
              <strong>{tag}</strong> <Feeling label={sentiment} score={score} />{" "}
              <span class="soft">{is_own ? "by its own mentions" : "as the whole article"}</span>{" "}
              <a href={hashOf("articles", "", { tag })}>its articles</a>, <a href={hashOf("sentiment", tag)}>its sentiment</a>
            </li>
          ))}
        </ul>
      )}
      <Decisions
        of={article.dedup_key}
        view="articles"
        summary="Join another article"
        action="join_articles"
        body={{ article_id: article.dedup_key }}
        other="The article with the same story"
        title="Join another article to this one"
        follows="What its sources say stands here, now and later, and its address leads here. This one is analyzed anew. It can be taken back."
        decided={decided}
      />
    </article>
  );
}

/** Reports are one article when key and signature are equal; docs/articles.md has the rule. */
function Merged({ article }: { article: Article }): JSX.Element {
  const day = article.timestamp.slice(0, 10);
  return (
    <>
      <h2>Why they are one</h2>
      <p class="prose">
        Each headline is compared without case, punctuation, a wire's label and the publisher's name. Reports are one article
        when that form is the same, they are of one day in UTC or within six hours of the midnight between two, and the
        figures and signs in which punctuation carries meaning are equal: −3 % is not 3 %.
      </p>
      <Facts
        of={[
          ["The form they share", <span dir="auto">{article.normalized_headline}</span>],
          ["The day", day],
          ["Key", <code>{article.dedup_key}</code>],
        ]}
      />
      <Table
        caption="The headlines that were compared"
        rows={attributions(article)}
        rowKey={([source]) => source}
        columns={[
          { name: "Source", of: ([source, attribution]) => <Chip kind="plain">{attribution.source_name ?? source}</Chip> },
          { name: "Its own headline", of: ([, attribution]) => <span dir="auto">{attribution.original_headline}</span> },
          { name: "Published", of: ([, attribution]) => <Published at={attribution.published_at} exact /> },
        ]}
      />
    </>
  );
}

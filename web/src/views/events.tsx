/** Events: articles about the same occurrence in other words, and what may be concluded from them. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { go, hashOf, useGet, useList, type Place } from "../hooks";
import { Empty, Feeling, Heading, More, Published, Shown, Table, Time } from "../parts";
import { Decide, Decisions, useDecided, type Decision } from "./decide";

interface Idea {
  time: string;
  direction: string;
  why: string;
  score: number;
}

interface Event {
  event_id: string;
  headline: string;
  tickers: string[];
  member_count: number;
  last_published_at: string;
  idea: Idea | null;
}

interface Member {
  dedup_key: string;
  headline: string;
  published_at: string;
  sources: string[] | null;
  sentiment: string | null;
  score: number | null;
}

export function Events({ place }: { place: Place }): JSX.Element {
  return place.id === "" ? <Newest /> : <One id={place.id} />;
}

function Newest(): JSX.Element {
  const list = useList<Event>("/events");
  return (
    <>
      <Heading title="Events">Articles about the same occurrence in other words. The conclusions are no advice.</Heading>
      <Shown of={list}>
        {(events) =>
          events.length === 0 ? (
            <Empty>No two articles are about the same occurrence yet.</Empty>
          ) : (
            <ol class="articles">
              {events.map((event) => (
                <li key={event.event_id}>
                  <article class="story">
                    <h2>
                      <a href={hashOf("events", event.event_id)}>{event.headline}</a>
                    </h2>
                    <p class="about">
                      <Published at={event.last_published_at} /> · {event.member_count} articles{" "}
                      {event.tickers.map((ticker) => (
                        <a key={ticker} class="chip plain" href={hashOf("articles", "", { tag: ticker })}>
                          {ticker}
                        </a>
                      ))}
                    </p>
                    {event.idea ? <p class="prose">{event.idea.why}</p> : null}
                  </article>
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

type Whole = Event & { members: Member[]; ideas: Idea[] };

function One({ id }: { id: string }): JSX.Element {
  const answer = useGet<Whole>(`/events/${encodeURIComponent(id)}`);
  const [turn, loadAnew] = useDecided(answer);
  return (
    <Shown of={answer} heading="Event">
      {(event) => (
        <Read
          key={turn}
          event={event}
          decided={({ action, about: [first = ""] }) =>
            // An event of one article is none: that article is what there is to see.
            action === "take_out" && event.members.length <= 2 ? go("articles", first) : loadAnew()
          }
        />
      )}
    </Shown>
  );
}

function Read({ event, decided }: { event: Whole; decided: (decision: Decision) => void }): JSX.Element {
  const [leaving, setLeaving] = useState<Member | null>(null);
  return (
    <>
      <Heading title={event.headline} />
      <Table
        caption="The articles of this event"
        rows={event.members}
        rowKey={(member) => member.dedup_key}
        columns={[
          { name: "Published", of: (member) => <Published at={member.published_at} exact /> },
          { name: "Headline", of: (member) => <a href={hashOf("articles", member.dedup_key)}>{member.headline}</a> },
          { name: "Sources", of: (member) => (member.sources ?? []).join(", ") },
          { name: "Sentiment", of: (member) => <Feeling label={member.sentiment} score={member.score} /> },
          {
            name: "Not of it?",
            of: (member) => (
              <button type="button" class="small" aria-label={`Take out ${member.headline}`} onClick={() => setLeaving(member)}>
                Take out
              </button>
            ),
          },
        ]}
      />
      {leaving === null ? null : (
        <Decide
          key={leaving.dedup_key}
          action="take_out"
          body={{ article_id: leaving.dedup_key }}
          title={`Take out ${leaving.headline}`}
          follows={`The article leaves this event and is put into none again. ${event.members.length > 2 ? "" : "An event of one article is none: this one is dissolved. "}It can be taken back.`}
          focus
          decided={decided}
        />
      )}
      <h2>What may be concluded</h2>
      <ul>
        {event.ideas.map((idea) => (
          <li key={idea.time}>
            <Time at={idea.time} exact />: {idea.why}
          </li>
        ))}
      </ul>
      <Decisions
        of={event.event_id}
        view="events"
        summary="Merge with another event"
        action="merge_events"
        body={{ event_id: event.event_id }}
        other="The event that is the same"
        title="Merge another event into this one"
        follows="Its articles belong to this event, now and later, and its address leads here. It can be taken back."
        decided={decided}
      />
    </>
  );
}

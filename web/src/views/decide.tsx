/** A person's decision: the form that asks who and why, and what was decided on an article or an event before. */

import type { ComponentChildren, JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { sendAs, useDoing } from "../access";
import { forgetLists, hashOf, placeOf, useList, type Answer } from "../hooks";
import { Field, More, Opened, Shown, Time, Trouble } from "../parts";
import { NAME } from "./review";

/** Who decides, and why. */
export interface DecidedBy {
  decided_by: string;
  reason: string;
}

export interface Decision extends DecidedBy {
  decision_id: string;
  action: string;
  /** The one that stays or was split is first, an article before its event. */
  about: string[];
  source: string | null;
  decided_at: string;
  undoes: string | null;
  undone_by: string | null;
}

/** After a decision: shows its subject as it is now. The number distinguishes views, so that no form of before stays. */
export function useDecided({ again }: Answer<unknown>): [number, () => void] {
  const [turn, setTurn] = useState(0);
  const loadAnew = (): void => {
    setTurn((before) => before + 1);
    forgetLists();
    again();
    document.getElementById("main")?.focus();
  };
  return [turn, loadAnew];
}

/** What a form asks for beside who and why, and what follows. */
export function DecisionForm({
  title,
  follows,
  send,
  focus = false,
  children,
}: {
  title: string;
  /** What will happen. */
  follows: ComponentChildren;
  /** Sends it under a key that another decision does not have; answers what has to be put right first, if anything. */
  send: (by: DecidedBy, key: (body: object) => string) => Promise<string | void>;
  /** Whether it was opened by a button elsewhere, and one goes on in it. */
  focus?: boolean;
  children?: ComponentChildren;
}): JSX.Element {
  const form = useRef<HTMLFormElement>(null);
  const keys = useRef<Record<string, string>>({});
  const [wrong, setWrong] = useState("");
  const [reason, setReason] = useState("");
  const [who, setWho] = useState(() => sessionStorage.getItem(NAME) ?? "");
  const { busy, problem, act } = useDoing();
  useEffect(() => {
    if (focus) form.current?.querySelector<HTMLElement>("input, select")?.focus();
  }, []);
  const sent = (event: Event): void => {
    event.preventDefault();
    setWrong("");
    void act("decide", async () => {
      sessionStorage.setItem(NAME, who);
      const key = (body: object): string => (keys.current[JSON.stringify(body)] ??= crypto.randomUUID());
      setWrong((await send({ decided_by: who.trim(), reason: reason.trim() }, key)) ?? "");
    });
  };
  return (
    <form ref={form} class="review panel" aria-label={title} onSubmit={sent}>
      <h2>{title}</h2>
      {children}
      {wrong === "" ? null : (
        <p class="error" role="alert">
          {wrong}
        </p>
      )}
      <Field label="Your name" required value={who} onInput={setWho} />
      <Field label="Why, for those who come after" required value={reason} onInput={setReason} />
      <p class="good">
        <strong>What will happen:</strong> {follows}
      </p>
      {problem === null ? null : <Trouble of={problem} />}
      <button type="submit" disabled={busy !== ""}>
        {busy === "" ? "Decide" : "Sending …"}
      </button>
    </form>
  );
}

/** An id as it is, or from the address of its view in this page. */
function meant(text: string): string {
  const cut = text.indexOf("#/");
  return cut < 0 ? text.trim() : placeOf(text.slice(cut).trim()).id;
}

interface DecideProps {
  action: string;
  body: Record<string, string>;
  /** What is asked for where another article or event is needed. */
  other?: string;
  decided: (decision: Decision) => void;
  title: string;
  follows: string;
  focus?: boolean;
}

/** One decision on an article or an event. */
export function Decide({ action, body, other, decided, ...form }: DecideProps): JSX.Element {
  const [typed, setTyped] = useState("");
  return (
    <DecisionForm
      {...form}
      send={async (by, key) => {
        const whole = { ...body, ...(other === undefined ? {} : { other_id: meant(typed) }), ...by };
        decided(await sendAs<Decision>(`/decisions/${action}`, { method: "POST", key: key(whole), body: whole }));
      }}
    >
      {other === undefined ? null : (
        <Field label={other} hint="Its address in this page, or its id" wide required value={typed} onInput={setTyped} />
      )}
    </DecisionForm>
  );
}

const DONE: Record<string, (one: Decision) => string> = {
  join_articles: () => "Joined",
  split_article: (one) => `Split off ${one.source ?? ""}`,
  take_out: () => "Taken out of the event",
  merge_events: () => "Merged",
  undo: (one) => (one.source === null ? "Taken back" : `Taken back: ${one.source} is joined again`),
};

/** What people have decided on an article or an event, each with a way to take it back. */
function Decided({ of, view, decided }: { of: string; view: string; decided: (decision: Decision) => void }): JSX.Element {
  const list = useList<Decision>("/decisions", { about: of });
  const [undoing, setUndoing] = useState("");
  return (
    <Shown of={list}>
      {(items) =>
        items.length === 0 ? null : (
          <section aria-labelledby="decided">
            <h2 id="decided">What people decided</h2>
            <ul>
              {items.map((one) => (
                <li key={one.decision_id}>
                  <strong>{DONE[one.action]?.(one) ?? one.action}</strong> by {one.decided_by}, <Time at={one.decided_at} />: {one.reason}{" "}
                  <Others one={one} was={items.find((other) => other.decision_id === one.undoes) ?? one} of={of} view={view} />{" "}
                  {one.undone_by !== null ? (
                    <span class="soft">It was taken back.</span>
                  ) : one.action === "undo" ? null : undoing === one.decision_id ? (
                    <Decide
                      action="undo"
                      body={{ decision_id: one.decision_id }}
                      title="Take it back"
                      follows="All is as it was before, with what has come since. This is listed too."
                      focus
                      decided={decided}
                    />
                  ) : (
                    <button type="button" class="small" onClick={() => setUndoing(one.decision_id)}>
                      Undo
                    </button>
                  )}
                </li>
              ))}
            </ul>
            <More of={list} />
          </section>
        )
      }
    </Shown>
  );
}

/** At the end of an article's or an event's view: joins another one to it, and lists what people decided. */
export function Decisions({ of, view, summary, decided, ...form }: { of: string; view: string; summary: string } & DecideProps): JSX.Element {
  return (
    <>
      <Opened summary={summary}>
        <Decide {...form} decided={decided} />
      </Opened>
      <Decided of={of} view={view} decided={decided} />
    </>
  );
}

/** Ways to what else a decision was about; `was` is the one that it took back, where it did. */
function Others({ one, was, of, view }: { one: Decision; was: Decision; of: string; view: string }): JSX.Element {
  return (
    <>
      {one.about.map((id, place) => {
        if (id === of) return null;
        const there = was.action === "take_out" ? (["articles", "events"][place] ?? view) : view;
        return (
          <a key={id} href={hashOf(there, id)}>
            the {there === view ? "other " : ""}
            {there === "events" ? "event" : "article"}
          </a>
        );
      })}
    </>
  );
}

/** Alerts: rules of what to report, made and removed here, and what each rule has fired for. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { sendAs, useDoing } from "../access";
import { all } from "../api";
import { go, hashOf, useList, useLoad, useWatch, type Place } from "../hooks";
import { Chip, Choice, Copy, Empty, Facts, Field, Heading, More, Shown, Table, Time, Trouble } from "../parts";
import { inWords, KINDS, type Delivery, type Kind, type Rule, type RuleField } from "./alert-words";

export function Alerts({ place }: { place: Place }): JSX.Element {
  return place.id === "" ? <Listed place={place} /> : <One id={place.id} />;
}

function Listed({ place }: { place: Place }): JSX.Element {
  const adding = place.query.get("add");
  const list = useList<Rule>("/alerts", { limit: 100 });
  return (
    <>
      <Heading title="Alerts">What is reported to you. A rule fires once for each thing, from the moment on at which it is made.</Heading>
      {adding === null ? (
        <p class="filters">
          <a class="button" href={hashOf("alerts", "", { add: "article" })}>
            Add an alert
          </a>
        </p>
      ) : (
        <Add key={adding} kind={adding} q={place.query.get("q") ?? ""} />
      )}
      <Shown of={list}>
        {(rules) =>
          rules.length === 0 ? (
            <Empty>
              There is none yet. <a href={hashOf("alerts", "", { add: "article" })}>Report articles that match a search</a>
            </Empty>
          ) : (
            <Table
              caption="Alerts, the newest last"
              rows={rules}
              rowKey={(rule) => rule.alert_id}
              columns={[
                { name: "Alert", of: (rule) => <a href={hashOf("alerts", rule.alert_id)}>{rule.name}</a> },
                { name: "Fires when", of: (rule) => inWords(rule) },
                { name: "Goes to", of: (rule) => [rule.webhook, rule.mail].filter((way) => way !== null).join(", ") || "this page" },
                { name: "Since", of: (rule) => <Time at={rule.created_at} /> },
              ]}
            />
          )
        }
      </Shown>
      <More of={list} />
    </>
  );
}

function Add({ kind, q }: { kind: string; q: string }): JSX.Element {
  const chosen = KINDS.find((one) => one.kind === kind) ?? KINDS[0];
  const [given, setGiven] = useState<Record<string, string>>(q === "" ? {} : { q });
  const [made, setMade] = useState<(Rule & { secret: string | null }) | null>(null);
  const { busy, problem, act } = useDoing();
  const change = (name: string) => (value: string) => setGiven({ ...given, [name]: value });
  const own = new Set(["name", "webhook", "mail", ...(chosen?.fields ?? []).map((field) => field.name)]);
  const numbers = new Set((chosen?.fields ?? []).filter((field) => field.number !== undefined).map((field) => field.name));
  const values = Object.fromEntries(
    Object.entries(given)
      .map(([name, value]) => [name, value.trim()] as const)
      .filter(([name, value]) => own.has(name) && value !== "")
      .map(([name, value]) => [name, numbers.has(name) ? Number(value) : value] as const),
  );
  if (made !== null) return <Made rule={made} />;
  return (
    <form
      class="review panel"
      onSubmit={(event) => {
        event.preventDefault();
        void act("add", async () => setMade(await sendAs("/alerts", { method: "POST", body: { ...values, kind: chosen?.kind } })));
      }}
    >
      <h2>Add an alert</h2>
      <Choice
        label="Tell me when"
        value={chosen?.kind ?? ""}
        options={KINDS.map((one) => [one.kind, one.when] as const)}
        onChange={(value) => go("alerts", "", { add: value })}
      />
      <Named kind={chosen} given={given} change={change} />
      <Field label="Name" value={given["name"] ?? ""} onInput={change("name")} hint="What it is called where it arrives." />
      <Field
        label="Webhook"
        type="url"
        value={given["webhook"] ?? ""}
        onInput={change("webhook")}
        hint="An https address that each event is sent to, signed. May stay empty."
      />
      <Field label="Mail" type="email" value={given["mail"] ?? ""} onInput={change("mail")} hint="It is asked first whether it agrees. May stay empty." />
      <p class="soft">Whatever it fires for is listed here too.</p>
      {problem === null ? null : <Trouble of={problem} />}
      <button type="submit" disabled={busy !== ""}>
        {busy === "" ? "Add the alert" : "Sending …"}
      </button>
    </form>
  );
}

/** The fields of a kind, with names to choose from where the API knows them. */
function Named({ kind, given, change }: { kind: Kind | undefined; given: Record<string, string>; change: (name: string) => (value: string) => void }): JSX.Element {
  return (
    <>
      {(kind?.fields ?? []).map((field) => (
        <OneField key={field.name} field={field} value={given[field.name] ?? ""} change={change(field.name)} />
      ))}
    </>
  );
}

function OneField({ field, value, change }: { field: RuleField; value: string; change: (value: string) => void }): JSX.Element {
  const known = useLoad((signal) => names(field.from, signal), [field.from ?? ""]);
  if (field.words !== undefined || field.from === "series" || field.from === "workflows") {
    const options = field.words?.map((word) => [word, word.toLowerCase()] as const) ?? known.value ?? [];
    return <Choice label={field.label} value={value} options={[["", field.needed ? "choose one" : "any"], ...options]} onChange={change} />;
  }
  const list = known.value === null || known.value.length === 0 ? {} : { list: `known-${field.name}` };
  return (
    <>
      <Field
        label={field.label}
        value={value}
        onInput={change}
        required={field.needed === true}
        {...(field.hint === undefined ? {} : { hint: field.hint })}
        {...(field.number === undefined
          ? {}
          : { type: "number", min: field.number.least, max: field.number.most, step: field.number.step })}
        {...list}
      />
      {list.list === undefined ? null : (
        <datalist id={list.list}>
          {(known.value ?? []).map(([key, name]) => (
            <option key={key} value={name} />
          ))}
        </datalist>
      )}
    </>
  );
}

type Known = (readonly [string, string])[];

async function names(from: RuleField["from"], signal: AbortSignal): Promise<Known> {
  if (from === "subjects") {
    const found = await all<{ tool_id: string; name: string }>("/api/v1/tools", {}, 5000, signal);
    return found.map((one) => [one.tool_id, one.name] as const);
  }
  if (from === "series") {
    const found = await all<{ series_code: string; name: string | null }>("/series", {}, 500, signal);
    return found.map((one) => [one.series_code, one.name ?? one.series_code] as const);
  }
  if (from === "banks") {
    const found = await all<{ bank_name: string }>("/banks", {}, 500, signal);
    return found.map((one) => [one.bank_name, one.bank_name] as const);
  }
  if (from === "workflows") {
    const found = await all<{ workflow_name: string }>("/workflows", {}, 500, signal);
    return found.map((one) => [one.workflow_name, one.workflow_name.replaceAll("_", " ")] as const);
  }
  return [];
}

function Made({ rule }: { rule: Rule & { secret: string | null } }): JSX.Element {
  return (
    <div class="good" role="status">
      <p>
        <strong>{rule.name}</strong> is added. <a href={hashOf("alerts", rule.alert_id)}>Watch what arrives</a>
      </p>
      {rule.secret === null ? null : (
        <p>
          The secret that signs what the webhook gets is shown this once: <code>{rule.secret}</code>{" "}
          <Copy text={rule.secret} what="the secret" />
        </p>
      )}
    </div>
  );
}

const STATE: Record<string, string> = { PENDING: "plain", DELIVERED: "positive", GIVEN_UP: "negative", CANCELLED: "warn" };
const SAID: Record<string, string> = { PENDING: "on its way", DELIVERED: "delivered", GIVEN_UP: "given up", CANCELLED: "cancelled" };

function One({ id }: { id: string }): JSX.Element {
  const answer = useLoad(async (signal) => {
    const rules = await all<Rule>("/alerts", {}, 20_000, signal);
    return rules.find((rule) => rule.alert_id === id) ?? null;
  }, [id]);
  const list = useList<Delivery>(`/alerts/${encodeURIComponent(id)}/deliveries`);
  const { busy, problem, act } = useDoing();
  // As long as one has not asked for more: looking again begins at the newest.
  useWatch(list, (list.value ?? []).length <= 20, 5);
  const rule = answer.value;
  const remove = (): void => {
    void act("remove", async () => {
      await sendAs(`/alerts/${encodeURIComponent(id)}`, { method: "DELETE" });
      go("alerts");
    });
  };
  return (
    <>
      <Heading title={rule?.name ?? "Alert"}>{rule === null ? null : <>Fires when {inWords(rule)}.</>}</Heading>
      {rule === null ? null : (
        <>
          <Facts
            of={[
              ["Webhook", rule.webhook ?? "–"],
              ["Mail", rule.mail ?? "–"],
              ["Since", <Time at={rule.created_at} exact />],
            ]}
          />
          <p class="buttons">
            <button type="button" class="danger" disabled={busy !== ""} onClick={remove}>
              {busy === "" ? "Remove this alert" : "Removing …"}
            </button>
            <span class="soft">What it has not delivered yet is then not delivered.</span>
          </p>
        </>
      )}
      {problem === null ? null : <Trouble of={problem} />}
      <h2>What it has fired for</h2>
      <Shown of={list}>
        {(deliveries) =>
          deliveries.length === 0 ? (
            <Empty>Nothing yet. This list is looked at every few seconds; it takes up to three minutes until what happens is noticed.</Empty>
          ) : (
            <Table
              caption="What the alert has fired for, the newest first"
              rows={deliveries}
              rowKey={(one) => one.event_id}
              columns={[
                { name: "When", of: (one) => <Time at={one.at} /> },
                { name: "What", of: (one) => <What of={one} /> },
                {
                  name: "Delivery",
                  of: (one) => (
                    <>
                      <Chip kind={STATE[one.state] ?? "plain"}>{SAID[one.state] ?? one.state}</Chip>{" "}
                      <span class="soft">
                        {one.state === "PENDING" ? `to ${one.waiting_for.join(", ")} ` : ""}
                        {one.attempts > 1 ? `after ${one.attempts} attempts ` : ""}
                        {one.last_error ?? ""}
                      </span>
                    </>
                  ),
                },
              ]}
            />
          )
        }
      </Shown>
      <More of={list} />
    </>
  );
}

/** What happened, by the facts that are sent: with a way to it, where the page shows it. */
function What({ of: { kind, facts } }: { of: Delivery }): JSX.Element {
  const fact = (name: string): string => (facts[name] === null || facts[name] === undefined ? "" : String(facts[name]));
  if (kind === "article") return <a href={hashOf("articles", fact("dedup_key"))}>{fact("headline")}</a>;
  if (kind === "run") {
    return (
      <>
        <a href={hashOf("runs", fact("job_run_id"))}>{fact("workflow_name").replaceAll("_", " ")}</a> {fact("error_message")}
      </>
    );
  }
  if (kind === "sentiment") {
    return (
      <a href={hashOf("sentiment", fact("tool_id"))}>
        {fact("tool_id")}: {fact("average_before")} → {fact("average_sentiment")}
      </a>
    );
  }
  if (kind === "rate" || kind === "best_rate") {
    return (
      <a href={hashOf("rates", "", { series: fact("series_code"), bank: fact("bank_name"), term: fact("term") })}>
        {fact("bank_name")} {fact("term")}: {fact("rate_before_pct")} → {fact("rate_pct")} %
      </a>
    );
  }
  if (kind === "source") return <a href={hashOf("feeds", fact("source_id"))}>{`${fact("source_id")} ${fact("last_error")}`}</a>;
  if (kind === "spectrum") return <a href={hashOf("novae", fact("nova_id"))}>{`${fact("provider")} ${fact("verdict").toLowerCase()} ${fact("reason_code")}`}</a>;
  return (
    <>
      {Object.entries(facts)
        .map(([name, value]) => `${name.replaceAll("_", " ")} ${String(value)}`)
        .join(", ")}
    </>
  );
}

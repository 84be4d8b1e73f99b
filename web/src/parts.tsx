/** Small parts that every view is made of. */

import type { ComponentChildren, JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Problem } from "./api";
import { placeOf, type Answer, type List } from "./hooks";
import { day, moment, published, relative, safeLink } from "./format";
import { openAccess } from "./access";

export function Heading({
  title,
  tab,
  children,
}: {
  title: string;
  /** What the browser's tab says, where it is more than the title. */
  tab?: string;
  children?: ComponentChildren;
}): JSX.Element {
  const shown = tab ?? title;
  useEffect(() => {
    document.title = `${shown} – Sourcebook`;
  }, [shown]);
  return (
    <header class="heading">
      <h1 tabIndex={-1}>{title}</h1>
      {children ? <p class="lead">{children}</p> : null}
    </header>
  );
}

/** What went wrong, and the next step. */
export function Trouble({ of, again }: { of: Problem; again?: () => void }): JSX.Element {
  const retry =
    again === undefined ? null : (
      <button type="button" onClick={again}>
        Try again
      </button>
    );
  return (
    <div class="problem" role="alert">
      <p>{of.message}</p>
      <NextStep of={of} />
      {of.wantsToken ? (
        <button type="button" onClick={openAccess}>
          {of.status === 401 ? "Enter a token" : "Enter another token"}
        </button>
      ) : null}{" "}
      {retry}
    </div>
  );
}

function NextStep({ of }: { of: Problem }): JSX.Element | null {
  if (of.status === 0) return <p>This is asked for again when the network is back. Is the stack up? (make up)</p>;
  if (of.status === 401) return <p>This stack wants to know who asks.</p>;
  if (of.status === 403) return <p>The token that you have entered may only read. This needs one with the scope write.</p>;
  if (of.status === 429) return <p>Too many requests at once. Wait a few seconds.</p>;
  if (of.status === 503) return <p>It is busy for the moment{of.after === null ? "" : `; try again in ${of.after} seconds`}.</p>;
  if (of.status >= 500)
    return (
      <p>
        It is not your mistake. Tell the operator this id: <code>{of.correlation ?? "none"}</code>
      </p>
    );
  return null;
}

/** What an answer is while it is awaited, when it failed, and when it is there. */
export function Shown<T>({
  of,
  heading,
  children,
}: {
  of: Answer<T>;
  /** The view's heading, where it is only what comes that says a better one. */
  heading?: string;
  children: (value: T) => ComponentChildren;
}): JSX.Element {
  if (of.value !== null && of.problem === null) return <>{children(of.value)}</>;
  const title = heading === undefined ? null : <Heading title={heading} />;
  if (of.problem === null) {
    return (
      <>
        {title}
        <p class="waiting" role="status">
          Loading …
        </p>
      </>
    );
  }
  return (
    <>
      {title}
      <Trouble of={of.problem} {...(of.problem.status === 404 ? {} : { again: of.again })} />
      {of.problem.status === 404 ? (
        <p>
          <a href={`#/${placeOf(location.hash).view}`}>See what there is</a>
        </p>
      ) : null}
    </>
  );
}

export function More<T>({ of }: { of: List<T> }): JSX.Element | null {
  return of.more === null ? null : (
    <button type="button" class="more" disabled={of.waiting} onClick={of.more}>
      {of.waiting ? "Loading …" : "Show more"}
    </button>
  );
}

/** What is opened by a click, and made only then. */
export function Opened({ summary, children }: { summary: string; children: ComponentChildren }): JSX.Element {
  const [open, setOpen] = useState(false);
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{summary}</summary>
      {open ? children : null}
    </details>
  );
}

export function Empty({ children }: { children: ComponentChildren }): JSX.Element {
  return <p class="empty">{children}</p>;
}

export function Time({ at, exact = false }: { at: string | null | undefined; exact?: boolean }): JSX.Element {
  if (!at) return <span>–</span>;
  return (
    <time dateTime={at} title={moment(at)}>
      {exact ? moment(at) : relative(at)}
    </time>
  );
}

/** When an article was published, which may be known by its day alone. */
export function Published({ at, exact = false }: { at: string | null | undefined; exact?: boolean }): JSX.Element {
  if (!at) return <span>–</span>;
  return (
    <time dateTime={at} title={published(at)}>
      {exact ? published(at) : relative(at)}
    </time>
  );
}

/** A day in UTC: nobody's zone makes another one of it. */
export function Day({ of }: { of: string }): JSX.Element {
  return (
    <time class="day" dateTime={of.slice(0, 10)}>
      {day(of)}
    </time>
  );
}

export function Chip({ kind, children }: { kind: string; children: ComponentChildren }): JSX.Element {
  return <span class={`chip ${kind}`}>{children}</span>;
}

const MARKS: Record<string, string> = { positive: "▲", negative: "▼", neutral: "●" };

export function Feeling({ label, score }: { label: string | null; score?: number | null }): JSX.Element {
  if (label === null) return <Chip kind="plain">not analyzed yet</Chip>;
  const sure = score === null || score === undefined ? "" : ` ${Math.round(score * 100)} %`;
  return (
    <Chip kind={label}>
      <span aria-hidden="true">{MARKS[label] ?? ""}</span> {label}
      {sure}
    </Chip>
  );
}

export function Outside({ url, children }: { url: string | null | undefined; children: ComponentChildren }): JSX.Element {
  const href = safeLink(url);
  return href === null ? (
    <>{children}</>
  ) : (
    <a href={href} rel="noopener noreferrer" target="_blank">
      {children}
    </a>
  );
}

export interface Column<T> {
  name: string;
  of: (row: T) => ComponentChildren;
  right?: boolean;
}

export function Table<T>({
  caption,
  columns,
  rows,
  rowKey,
}: {
  caption: string;
  columns: readonly Column<T>[];
  rows: readonly T[];
  rowKey: (row: T) => string;
}): JSX.Element {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={caption}>
      {/* The roles hold also where the style sheet makes cards of the rows. */}
      <table role="table">
        <caption class="unseen">{caption}</caption>
        <thead role="rowgroup">
          <tr role="row">
            {columns.map((column) => (
              <th key={column.name} role="columnheader" scope="col" class={column.right ? "right" : ""}>
                {column.name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {rows.map((row) => (
            <tr role="row" key={rowKey(row)}>
              {columns.map((column) => (
                <td role="cell" key={column.name} class={column.right ? "right" : ""} data-name={column.name}>
                  {column.of(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

export function Facts({ of }: { of: readonly (readonly [string, ComponentChildren])[] }): JSX.Element {
  return (
    <dl class="facts">
      {of.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

export function Choice({
  label,
  value,
  options,
  onChange,
}: {
  label: string;
  value: string;
  options: readonly (readonly [string, string])[];
  onChange: (value: string) => void;
}): JSX.Element {
  return (
    <label class="field">
      <span>{label}</span>
      <select value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        {options.map(([key, name]) => (
          <option key={key} value={key}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}

/** A value that one wants to have elsewhere. */
export function Copy({ text, what }: { text: string; what: string }): JSX.Element {
  const [done, setDone] = useState(false);
  const copy = (): void => {
    void navigator.clipboard.writeText(text).then(() => {
      setDone(true);
      setTimeout(() => setDone(false), 2000);
    });
  };
  return (
    <button type="button" class="small" aria-label={`Copy ${what}`} onClick={copy}>
      {done ? "copied" : "copy"}
    </button>
  );
}

export function Field({
  label,
  value,
  onInput,
  hint,
  wide = false,
  ...rest
}: {
  label: string;
  value: string;
  onInput: (value: string) => void;
  hint?: string;
  wide?: boolean;
  type?: string;
  required?: boolean;
  placeholder?: string;
  min?: number;
  max?: number;
  step?: number;
  list?: string;
}): JSX.Element {
  return (
    <label class={`field${wide ? " wide" : ""}`}>
      <span>{label}</span>
      <input {...(rest as object)} value={value} onInput={(event) => onInput(event.currentTarget.value)} />
      {hint === undefined ? null : <small class="soft">{hint}</small>}
    </label>
  );
}

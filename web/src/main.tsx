/** The page: a frame with the ways to go, and the view that the address names. */

import "uplot/dist/uPlot.min.css";
import "./styles.css";
import { render, type JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Access, openAccess } from "./access";
import { get, type Page, type Problem } from "./api";
import { hashOf, usePlace, type Place } from "./hooks";
import { Help, openHelp, useKeys } from "./keys";
import { Heading } from "./parts";
import { Alerts } from "./views/alerts";
import { Articles } from "./views/articles";
import { Events } from "./views/events";
import { Exports } from "./views/exports";
import { Feeds } from "./views/feeds";
import { Novae } from "./views/novae";
import { Quarantine } from "./views/quarantine";
import { Rates } from "./views/rates";
import { Runs } from "./views/runs";
import { SentimentView } from "./views/sentiment";

type View = (props: { place: Place }) => JSX.Element;

const VIEWS: Record<string, readonly [string, View]> = {
  articles: ["Articles", Articles],
  events: ["Events", Events],
  sentiment: ["Sentiment", SentimentView],
  feeds: ["Feeds", Feeds],
  rates: ["Rates", Rates],
  novae: ["Novae", Novae],
  quarantine: ["Quarantine", Quarantine],
  runs: ["Runs", Runs],
  alerts: ["Alerts", Alerts],
  exports: ["Exports", Exports],
};

const THEMES = ["auto", "light", "dark"] as const;
type Theme = (typeof THEMES)[number];

function App(): JSX.Element {
  const place = usePlace();
  useKeys();
  const waiting = useWaitingCases();
  const main = useRef<HTMLElement>(null);
  const first = useRef(true);
  const known = Object.hasOwn(VIEWS, place.view) ? VIEWS[place.view] : undefined; // "constructor" is no view
  const [, View] = known ?? ["Not here", Nowhere];
  useEffect(() => {
    // Who goes on by keyboard or screen reader goes on from the new view; not at the first, which is the page's start.
    if (!first.current) main.current?.focus({ preventScroll: true });
    first.current = false;
  }, [place.view, place.id]);
  useEffect(() => {
    // On a phone the ways stand in one line that is wider than the screen: the present one is brought into it.
    document.querySelector('nav a[aria-current="page"]')?.scrollIntoView({ block: "nearest", inline: "center" });
  }, [place.view, waiting]);
  return (
    <>
      <a
        class="skip"
        href="#main"
        onClick={(event) => {
          event.preventDefault();
          main.current?.focus();
        }}
      >
        Skip to the content
      </a>
      <header class="top">
        <a class="brand" href={hashOf("articles")}>
          Sourcebook
        </a>
        <nav aria-label="Views">
          <ul>
            {Object.entries(VIEWS).map(([view, [label]]) => (
              <li key={view}>
                <a href={hashOf(view)} aria-current={view === place.view ? "page" : undefined}>
                  {label}
                  {view === "quarantine" && waiting !== "" ? (
                    <span class="badge" aria-label={`${waiting} waiting`}>
                      {waiting}
                    </span>
                  ) : null}
                </a>
              </li>
            ))}
          </ul>
        </nav>
        <div class="tools">
          <Health />
          <ThemeButton />
          <button type="button" onClick={openAccess}>
            Access
          </button>
        </div>
      </header>
      <main id="main" ref={main} tabIndex={-1}>
        <View key={`${place.view}/${place.id}`} place={place} />
      </main>
      <footer>
        <a href="docs">HTTP API</a> ·{" "}
        <button type="button" class="small" onClick={openHelp}>
          Keys
        </button>{" "}
        · many sources, one record
      </footer>
      <Access />
      <Help />
    </>
  );
}

function Nowhere({ place }: { place: Place }): JSX.Element {
  return (
    <Heading title="Not here">
      There is no view {place.view}. <a href={hashOf("articles")}>The articles</a>
    </Heading>
  );
}

/** What the page is as a whole, asked once a minute, and at once when the network goes or comes. */
function Health(): JSX.Element {
  const [health, setHealth] = useState<string>("…");
  useEffect(() => {
    const ask = (): void => {
      if (!navigator.onLine) {
        setHealth("offline");
        return;
      }
      get<{ status: string }>("/health").then(
        ({ status }) => setHealth(status),
        (problem: Problem) => setHealth(problem.status === 0 ? "no answer" : "degraded"),
      );
    };
    ask();
    const timer = setInterval(ask, 60_000);
    addEventListener("online", ask);
    addEventListener("offline", ask);
    return () => {
      clearInterval(timer);
      removeEventListener("online", ask);
      removeEventListener("offline", ask);
    };
  }, []);
  return (
    <span class={`chip ${health === "healthy" ? "positive" : health === "…" ? "plain" : "negative"}`} role="status">
      {health}
    </span>
  );
}

/** How many cases wait for a person, asked once a minute and after a decision. */
function useWaitingCases(): string {
  const [count, setCount] = useState("");
  useEffect(() => {
    const controller = new AbortController();
    const ask = (): void => {
      get<Page<unknown>>("/quarantine", { limit: 20 }, controller.signal).then(
        ({ items, next_cursor }) => setCount(items.length === 0 ? "" : `${items.length}${next_cursor === null ? "" : "+"}`),
        () => setCount(""),
      );
    };
    // What the view itself asks for goes first.
    const soon = setTimeout(ask, 400);
    const timer = setInterval(ask, 60_000);
    addEventListener("casedecided", ask);
    addEventListener("tokenchange", ask);
    return () => {
      controller.abort();
      clearTimeout(soon);
      clearInterval(timer);
      removeEventListener("casedecided", ask);
      removeEventListener("tokenchange", ask);
    };
  }, []);
  return count;
}

function ThemeButton(): JSX.Element {
  const [theme, setTheme] = useState<Theme>(() => (localStorage.getItem("sourcebook.theme") as Theme | null) ?? "auto");
  useEffect(() => {
    const dark = matchMedia("(prefers-color-scheme: dark)");
    const apply = (): void => {
      const system = dark.matches ? "dark" : "light";
      document.documentElement.setAttribute("data-theme", theme === "auto" ? system : theme);
      dispatchEvent(new Event("themechange"));
    };
    localStorage.setItem("sourcebook.theme", theme);
    apply();
    dark.addEventListener("change", apply);
    return () => dark.removeEventListener("change", apply);
  }, [theme]);
  const next = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? "auto";
  return (
    <button type="button" aria-label={`Colours: ${theme}. Change to ${next}`} onClick={() => setTheme(next)}>
      {theme === "auto" ? "◐" : theme === "light" ? "☀" : "☾"}
    </button>
  );
}

const root = document.getElementById("app");
if (root !== null) render(<App />, root);
